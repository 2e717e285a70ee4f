import { describe, expect, it, vi } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { type Cassette, recordFetch, replayFetch } from '../../../src/models.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai } from '../../../src/providers/openai.ts'
import { patient } from '../../support/patience.ts'

const body = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Grüße' } }] })}\n\ndata: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`
const text = (words: string) => new TextEncoder().encode(words)
const answering: typeof fetch = async () =>
  new Response(body, { headers: { 'content-type': 'text/event-stream', 'set-cookie': 'session=secret', 'x-org': 'acme' } })

async function recorded(): Promise<Cassette> {
  let kept: Cassette | undefined
  const fetch = recordFetch(answering, {
    write: (cassette) => {
      kept = structuredClone(cassette)
    },
  })
  const agent = new Agent({ model: openai('gpt-4.1', { apiKey: 'sk-secret-key', fetch }) })
  expect(await agent.prompt('Hello.').text()).toBe('Grüße')
  expect(await agent.prompt('Again.').text()).toBe('Grüße')
  return kept ?? { version: 0, calls: [] }
}

describe('a cassette', () => {
  it('stores readable text without secrets', async () => {
    const cassette = await recorded()
    expect(cassette.calls).toHaveLength(2)
    expect(cassette.calls[0]).toMatchObject({
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      request: { model: 'gpt-4.1', messages: [{ role: 'user' }] },
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
    })
    expect(cassette.calls[0]?.body[0]).toContain('Grüße')
    expect(JSON.stringify(cassette)).not.toMatch(/secret|acme/)
  })

  it('redacts a key in a URL', async () => {
    const urls: string[] = []
    const fetch = recordFetch(async () => new Response('{}', { status: 400 }), {
      write: ({ calls }) => void urls.push(...calls.map(({ url }) => url)),
    })
    await new Agent({ model: google('gemini-3-pro', { baseUrl: 'https://x.example/v1beta?key=sk-secret', fetch }), logger: false }).prompt(
      'go',
    ).result
    expect(urls.length).toBeGreaterThan(0)
    expect(urls.join()).not.toContain('sk-secret')
  })

  it('replays responses to the same requests without a network', async () => {
    const agent = new Agent({ model: openai('gpt-4.1', { fetch: replayFetch(JSON.parse(JSON.stringify(await recorded()))) }) })
    expect(await agent.prompt('Hello.').text()).toBe('Grüße')
    expect(await agent.prompt('Again.').text()).toBe('Grüße')
  })

  it('rejects a different request and names the difference', async () => {
    const agent = new Agent({
      model: openai('gpt-4.1', { fetch: replayFetch(await recorded()) }),
      temperature: 0.5,
      logger: false,
      retry: false,
    })
    const { error } = await agent.prompt('Hello.').result
    expect(error?.message).toMatch(/call 1 differs from the recorded one: the request\.request\.temperature is 0\.5/)
  })

  it('rejects a call beyond the recording, and an invalid cassette', async () => {
    const agent = new Agent({ model: openai('gpt-4.1', { fetch: replayFetch({ version: 1, calls: [] }) }), logger: false, retry: false })
    expect((await agent.prompt('Hello.').result).error?.message).toContain('call 1 was not recorded')
    expect(() => replayFetch({ calls: 3 } as never)).toThrow(/cassette/)
  })

  it('redacts a key that the provider echoes or that the body contains', async () => {
    let kept = ''
    const echo: typeof fetch = async () =>
      Response.json(
        { error: { message: 'Incorrect API key provided: sk-secret-key-12345. Cookie: sk-secr\u0065t-key-12345' } },
        { status: 401 },
      )
    const fetch = recordFetch(echo, {
      write: (cassette) => {
        kept = JSON.stringify(cassette)
      },
    })
    const model = openai('gpt-4.1', { apiKey: 'sk-secret-key-12345', fetch, body: { metadata: { note: 'sk-secret-key-12345' } } })
    await new Agent({ model, logger: false }).prompt('go').result
    expect(kept).toContain('Incorrect API key')
    expect(kept).not.toMatch(/secret-key|12345/)
    // The same request with another key, which is not in the cassette either.
    const again = openai('gpt-4.1', {
      apiKey: 'sk-other-key-67890',
      fetch: replayFetch(JSON.parse(kept)),
      body: { metadata: { note: 'sk-other-key-67890' } },
    })
    expect((await new Agent({ model: again, logger: false }).prompt('go').result).error?.code).toBe('auth')
  })

  it('records concurrent calls in start order, and replays them in any order', async () => {
    let kept: Cassette = { version: 1, calls: [] }
    const waiting: (() => void)[] = []
    const slow: typeof fetch = async (_input, init) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return Response.json({ echo: String(init?.body) })
    }
    const fetch = recordFetch(slow, {
      write: (cassette) => {
        kept = structuredClone(cassette)
      },
    })
    const ask = (of: typeof fetch) => (text: string) =>
      of('https://x.example/', { method: 'POST', body: text }).then((response) => response.text())
    const calls = ['a', 'b', 'c'].map(ask(fetch))
    await vi.waitFor(() => expect(waiting).toHaveLength(3), patient)
    for (const go of waiting.toReversed()) go()
    await Promise.all(calls)
    expect(kept.calls.map(({ request }) => request)).toEqual(['a', 'b', 'c'])
    const answers = await Promise.all(['c', 'a', 'b'].map(ask(replayFetch(kept))))
    expect(answers).toEqual(['c', 'a', 'b'].map((echo) => JSON.stringify({ echo })))
  })

  it('records the body of a Request and the part of a response that was read', async () => {
    let kept: Cassette = { version: 1, calls: [] }
    const torn = () => {
      let reads = 0
      return new ReadableStream({
        pull: (controller) => {
          reads += 1
          if (reads === 1) controller.enqueue(text('half'))
          else controller.error(new Error('torn'))
        },
      })
    }
    const answer: typeof fetch = async (input) => {
      if (input instanceof Request) return new Response(await input.text())
      return new Response(String(input).endsWith('torn') ? torn() : 'more '.repeat(10))
    }
    const fetch = recordFetch(answer, {
      write: (cassette) => {
        kept = structuredClone(cassette)
      },
    })
    const reader = (await fetch('https://x.example/left')).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await expect((await fetch('https://x.example/torn')).text()).rejects.toThrow('torn')
    await (await fetch('https://x.example/unread')).body?.cancel()
    const headers = { authorization: 'Bearer sk-secret-key' }
    const response = await fetch(new Request('https://x.example/', { method: 'POST', body: 'hello', headers }))
    expect(await response.text()).toBe('hello')
    expect(kept.calls.map(({ method, request, body }) => [method, request, ...body])).toEqual([
      ['GET', '', 'more '.repeat(10)],
      ['GET', '', 'half'],
      ['GET', '', ''],
      ['POST', 'hello', 'hello'],
    ])
  })

  it('fails reading the complete response if write throws', async () => {
    const fetch = recordFetch(answering, { write: () => Promise.reject(new Error('disk full')) })
    await expect((await fetch('https://x.example/')).text()).rejects.toThrow('disk full')
    expect(() => recordFetch(answering, {} as never)).toThrow(/write/)
    expect(() => recordFetch(answering, { write: () => undefined, writes: 1 } as never)).toThrow(/writes/)
  })
})
