import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseConfig, trustRequests } from '../../src/config.ts'
import { agentOf, refusal } from '../support/agent-files.ts'

const png = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUg=='), (char) => char.charCodeAt(0))
const file = (media: string) => `[provider]\nmodel = "gemini-2.0-flash"\napi = "google"\napi_key = "k"\n[media]\n${media}`
const answer = `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: 'Red.' }] }, finishReason: 'STOP' }] })}\n\n`

afterEach(() => vi.unstubAllGlobals())

/** What the model was sent, and which addresses were asked for media, in a run of an agent of `text`. */
async function asked(text: string, url: string) {
  const media: string[] = []
  const bodies: string[] = []
  vi.stubGlobal('fetch', async (input: RequestInfo | URL) => {
    media.push(String(input))
    return new Response(png, { headers: { 'content-type': 'image/png' } })
  })
  const agent = await agentOf(text, {
    trust: true,
    fetch: async (_input, init) => {
      bodies.push(String(init?.body))
      return new Response(answer, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const content = [
    { type: 'image' as const, mimeType: 'image/png', url },
    { type: 'text' as const, text: 'Which colour?' },
  ]
  expect(await agent.prompt({ role: 'user', content }).text()).toBe('Red.')
  return { media, body: bodies.join('\n') }
}

describe('[media] in an agent file', () => {
  it('fetches only from the listed hosts', async () => {
    const text = file('hosts = ["files.example.com", "*.pictures.example"]')
    const one = await asked(text, 'https://a.pictures.example/x.png')
    expect(one.media).toEqual(['https://a.pictures.example/x.png'])
    expect(one.body).toContain('"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUg=="}')
    const other = await asked(text, 'https://elsewhere.example/x.png')
    expect(other.media).toEqual([])
    expect(other.body).toContain('could not be fetched')
  })

  it('respects max_bytes', async () => {
    const { body } = await asked(file('hosts = ["files.example.com"]\nmax_bytes = 8\ntimeout_secs = 5'), 'https://files.example.com/x.png')
    expect(body).toContain('could not be fetched')
  })

  it('requests trust for each host', async () => {
    const { config } = await parseConfig(file('hosts = ["files.example.com", "10.0.0.7"]'), 'toml')
    expect(trustRequests(config).filter(({ kind }) => kind === 'media')).toEqual([
      { kind: 'media', field: 'media.hosts[0]', what: 'files.example.com' },
      { kind: 'media', field: 'media.hosts[1]', what: '10.0.0.7' },
    ])
    expect(await refusal(file('hosts = ["10.0.0.7"]'))).toMatchObject({ code: 'untrusted', field: 'media.hosts[0]', line: 6 })
  })

  it('rejects an invalid host and reports its line', async () => {
    const refused = await refusal(file('hosts = ["https://files.example.com/x"]'), { trust: true })
    expect(refused).toMatchObject({ code: 'invalidField', field: 'media.hosts', line: 6 })
    expect(refused.message).toContain('a host, such as')
    expect(await refusal(file('max_bytes = 8'), { trust: true })).toMatchObject({ field: 'media.hosts' })
  })
})
