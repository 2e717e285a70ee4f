import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { toBase64 } from '../../../src/base/base64.ts'
import { type ImageContent, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => (at * 7) % 251)
bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const drawn: ImageContent = { type: 'image', mimeType: 'image/png', data: toBase64(bytes) }
const report = `data:application/pdf;base64,${btoa(`%PDF-1.7 ${'page '.repeat(60_000)}`)}`
const link = /^\/api\/sessions\/s\/blobs\/[0-9a-f]{64}$/

/** What a host answers, and how many characters of data its model was sent last. */
function hosted(mediaBase?: string) {
  let sent = 0
  const model = scripted(({ messages }) => {
    const said = messages.findLast(({ role }) => role === 'user')?.content ?? []
    sent = said.reduce((sum, block) => sum + (block.type === 'file' ? (block.data ?? '').length : 0), 0)
    return { text: 'Here: ', blocks: [drawn] }
  })
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
  const app = createAgentApp({ sessions, authorize: () => 'ada', ...(mediaBase !== undefined && { mediaBase }) })
  const post = async (path: string, body: object) =>
    app.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const chat = (id: string, url: string, more: object = {}) =>
    post('/chat', {
      id: 's',
      trigger: 'submit-message',
      messages: [{ id, role: 'user', parts: [{ type: 'file', mediaType: 'application/pdf', url }] }],
      ...more,
    })
  const reload = async (): Promise<{ parts: { type: string; url?: string }[] }[]> => (await (await app.request('/chat/s')).json()).messages
  return { app, post, chat, reload, sentChars: () => sent }
}

const urlsIn = (messages: { parts: { type: string; url?: string }[] }[]) =>
  messages.flatMap(({ parts }) => parts.flatMap(({ url }) => url ?? []))

describe('large media for AI SDK and AG-UI clients', () => {
  it('sends server URLs if a public URL is configured, also after a reload', async () => {
    const { app, chat, reload } = hosted('/api/')
    const told = await (await chat('u1', report)).text()
    expect([told.length < 10_000, /"url":"\/api\/sessions\/s\/blobs\/[0-9a-f]{64}"/.test(told)]).toEqual([true, true])
    const urls = urlsIn(await reload())
    expect(urls).toEqual([expect.stringMatching(link), expect.stringMatching(link)])
    const answer = await app.request((urls[1] ?? '').slice('/api'.length))
    expect([answer.headers.get('content-type'), toBase64(new Uint8Array(await answer.arrayBuffer()))]).toEqual(['image/png', drawn.data])
  })

  it('resolves a media URL only within its session', async () => {
    const { chat, reload, sentChars } = hosted('/api')
    await (await chat('u1', report)).text()
    const [own = ''] = urlsIn(await reload())
    const again = await chat('u1', own, { messageId: 'u1' })
    expect([again.status, (await again.text()).includes('Here: '), sentChars()]).toEqual([
      200,
      true,
      report.length - 'data:application/pdf;base64,'.length,
    ])
    for (const other of [own.replace(/[0-9a-f]{64}/, '0'.repeat(64)), `${own}/../x`, own.replace('/s/', '/other/')])
      expect([other, (await chat('u2', other)).status]).toEqual([other, 400])
  })

  it('sends URLs to AG-UI clients', async () => {
    const { post } = hosted('https://agents.example')
    const body = {
      threadId: 's',
      runId: 'r',
      messages: [{ id: 'u', role: 'user', content: 'Draw.' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }
    const told = await (await post('/sessions/s/agui', body)).text()
    expect([told.length < 20_000, told.includes('"https://agents.example/sessions/s/blobs/')]).toEqual([true, true])
  })

  it('sends media inline without a public URL', async () => {
    const { chat, reload } = hosted()
    expect(await (await chat('u1', report)).text()).toContain(drawn.data)
    expect(urlsIn(await reload()).map((url) => url.slice(0, 5))).toEqual(['data:', 'data:'])
  })
})
