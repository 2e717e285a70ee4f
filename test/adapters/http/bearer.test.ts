import { describe, expect, it } from 'vitest'
import { bearer, createAgentApp } from '../../../adapters/http/index.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const secret = 'correct-horse-battery'

/** The status of a prompt to an app that asks for `asked`, from a client that sends these `authorization` headers. */
async function statusOf(asked: unknown, ...sent: string[]): Promise<number> {
  // As JavaScript or an environment would give it.
  const authorize = bearer(asked as string | undefined)
  const app = createAgentApp({ agent: () => new Agent({ model: scripted([{ text: 'Hi.' }]) }), authorize })
  const headers = new Headers({ 'content-type': 'application/json' })
  for (const value of sent) headers.append('authorization', value)
  const response = await app.request('/runs', { method: 'POST', headers, body: '{"prompt":"Hi."}' })
  await response.body?.cancel()
  return response.status
}

describe('bearer', () => {
  it('accepts any scheme case and trims whitespace around the secret', async () => {
    for (const sent of [`Bearer ${secret}`, `bearer ${secret}`, `BEARER   ${secret}`, `Bearer ${secret}  `]) {
      expect([sent, await statusOf(secret, sent)]).toEqual([sent, 200])
    }
    expect(await statusOf(` ${secret}\n`, `Bearer ${secret}`)).toBe(200)
    expect(await statusOf('three words here', 'Bearer three words here')).toBe(200)
  })

  it('rejects all other credentials', async () => {
    const wrong = ['', 'Bearer', 'Bearer ', 'Bearer undefined', 'Bearer null', `Basic ${secret}`, secret, `Bearer${secret}`]
    const near = [secret.slice(0, -1), `${secret}x`, secret.toUpperCase(), `x${secret}`, `"${secret}"`, `${secret},`, `${secret}\u00e9`]
    for (const sent of [...wrong, ...near.map((token) => `Bearer ${token}`), `Bearer Bearer ${secret}`]) {
      expect([sent, await statusOf(secret, sent)]).toEqual([sent, 401])
    }
    expect(await statusOf(secret)).toBe(401)
    expect(await statusOf(secret, `Bearer ${secret}`, 'Bearer other')).toBe(401)
    expect(await statusOf(secret, `Bearer ${secret}`, `Bearer ${secret}`)).toBe(401)
  })

  it('rejects all requests if the secret is unset, empty or invalid', async () => {
    const none = [
      undefined,
      null,
      '',
      ' ',
      '\n',
      'x',
      'secret7',
      '        ',
      'undefined',
      '[object Object]',
      12345678901,
      {},
      [secret],
      true,
    ]
    for (const asked of none) {
      const sent = [`Bearer ${asked}`, `Bearer ${String(asked).trim()}`, 'Bearer undefined', 'Bearer null', 'Bearer', 'Bearer ']
      for (const each of sent) expect([asked, each, await statusOf(asked, each).catch(() => 401)]).toEqual([asked, each, 401])
    }
    // No client can be relied on to send these as they are.
    expect(await statusOf('pässwörtlich', 'Bearer pässwörtlich')).toBe(401)
    expect(await statusOf('line\nbreak-in-it', 'Bearer line break-in-it')).toBe(401)
  })

  it('accepts both requests and Hono contexts', async () => {
    const request = new Request('http://test', { headers: { authorization: `Bearer ${secret}` } })
    expect(await bearer(secret)(request)).toBe(true)
    expect(await bearer(secret)({ req: { raw: request } })).toBe(true)
    expect(await bearer(secret)(new Request('http://test'))).toBe(false)
  })
})
