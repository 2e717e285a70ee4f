import { describe, expect, it } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { type Cassette, recordFetch, replayFetch } from '../../../src/providers/compose/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai } from '../../../src/providers/openai/index.ts'

const body = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Grüße' } }] })}\n\ndata: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`
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
  it('reads well, and holds no secret', async () => {
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

  it('a key in an address is not recorded', async () => {
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

  it('answers the same requests without a service', async () => {
    const agent = new Agent({ model: openai('gpt-4.1', { fetch: replayFetch(JSON.parse(JSON.stringify(await recorded()))) }) })
    expect(await agent.prompt('Hello.').text()).toBe('Grüße')
    expect(await agent.prompt('Again.').text()).toBe('Grüße')
  })

  it('refuses another request, and says where it differs', async () => {
    const agent = new Agent({
      model: openai('gpt-4.1', { fetch: replayFetch(await recorded()) }),
      temperature: 0.5,
      logger: false,
      retry: false,
    })
    const { error } = await agent.prompt('Hello.').result
    expect(error?.message).toMatch(/call 1 differs from the recorded one: the request\.request\.temperature is 0\.5/)
  })

  it('refuses a call after the last, and what is no cassette', async () => {
    const agent = new Agent({ model: openai('gpt-4.1', { fetch: replayFetch({ version: 1, calls: [] }) }), logger: false, retry: false })
    expect((await agent.prompt('Hello.').result).error?.message).toContain('call 1 was not recorded')
    expect(() => replayFetch({ calls: 3 } as never)).toThrow(/cassette/)
  })
})
