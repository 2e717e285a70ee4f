import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FaultScript, faultFetch } from '../../testing/index.ts'

const url = 'https://example.test/'

/** The chunks of a body, and how it ended. */
async function read(response: Response): Promise<{ chunks: number[]; text: string; error?: unknown }> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  const chunks: number[] = []
  let text = ''
  try {
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      chunks.push(next.value.length)
      text += decoder.decode(next.value, { stream: true })
    }
  } catch (error) {
    return { chunks, text, error }
  }
  return { chunks, text }
}

describe('faultFetch', () => {
  it('returns scripted responses in order, repeats the last and records the calls', async () => {
    const fetch = faultFetch({ status: 503, headers: { 'retry-after': '1' } }, { body: 'ok' })
    const first = await fetch(url, { method: 'POST', headers: { a: 'b' }, body: 'question' })
    expect([first.status, first.headers.get('retry-after'), await first.text()]).toEqual([503, '1', ''])
    expect([await (await fetch(url)).text(), await (await fetch(new URL(url))).text()]).toEqual(['ok', 'ok'])
    expect(fetch.calls.map((call) => [call.url, call.method, call.headers.get('a'), call.body])).toEqual([
      [url, 'POST', 'b', 'question'],
      [url, 'GET', null, ''],
      [url, 'GET', null, ''],
    ])
    expect(fetch.openStreams).toBe(0)
  })

  it('splits the body without changing bytes, reproducibly by seed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.oneof(fc.integer({ min: 1, max: 9 }), fc.record({ seed: fc.nat() })),
        async (body, split) => {
          const one = await read(await faultFetch({ body, split })(url))
          expect(one.text).toBe(new TextDecoder().decode(new TextEncoder().encode(body)))
          expect((await read(await faultFetch({ body, split })(url))).chunks).toEqual(one.chunks)
        },
      ),
      { numRuns: 40 },
    )
    expect((await read(await faultFetch({ body: 'abcde', split: 2 })(url))).chunks).toEqual([2, 2, 1])
  })

  it('truncates as a clean end or as a broken connection', async () => {
    const script: FaultScript = { body: 'abcdef', split: 2 }
    expect(await read(await faultFetch({ ...script, cut: { at: 3, how: 'end' } })(url))).toEqual({ chunks: [2, 1], text: 'abc' })
    const broken = await read(await faultFetch({ ...script, cut: { at: 3, how: 'reset' } })(url))
    expect([broken.text, broken.error instanceof TypeError]).toEqual(['abc', true])
  })

  it('sends a part twice', async () => {
    expect(await (await faultFetch({ body: 'abcdef', duplicate: { from: 1, to: 3 } })(url)).text()).toBe('abcbcdef')
  })

  it('stalls until aborted, and reports when the reader waits', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const fetch = faultFetch({ body: 'abcdef', stall: { at: 2, onStall: () => controller.abort(reason) } })
    const response = await fetch(url, { signal: controller.signal })
    expect(fetch.openStreams).toBe(1)
    expect(await read(response)).toEqual({ chunks: [2], text: 'ab', error: reason })
    expect(fetch.openStreams).toBe(0)
  })

  it('fails without a response', async () => {
    await expect(faultFetch({ networkError: 'no route' })(url)).rejects.toThrow(new TypeError('no route'))
    await expect(faultFetch({})(url, { signal: AbortSignal.abort(new Error('early')) })).rejects.toThrow('early')
  })

  it('counts a cancelled body as closed', async () => {
    const fetch = faultFetch({ body: 'abcdef', split: 1 })
    const response = await fetch(url)
    await response.body?.cancel()
    expect(fetch.openStreams).toBe(0)
  })
})
