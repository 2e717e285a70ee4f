import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { type RemoteSession, remoteSession } from '../../src/client.ts'
import { type AgentMessage, fileContent, imageContent, type Message, memorySessionStore, type PromptInput } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const bytes = new TextEncoder().encode('%PDF-1.4\n%%EOF\n')
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** What the model was sent of the newest question. */
let heard: Message['content'] = []
let sessions: ReturnType<typeof memoryLiveSessions>
let app: ReturnType<typeof createAgentApp>

beforeAll(() => {
  const model = scripted(({ messages }) => {
    heard = messages.findLast(({ role }) => role === 'user')?.content ?? []
    return { text: 'Read.' }
  })
  sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
  app = createAgentApp({ sessions, authorize: () => true })
})
afterAll(() => sessions.close())

function open(sessionId: string): RemoteSession {
  return remoteSession({ url: 'http://localhost', sessionId, fetch: (request) => app.fetch(request) })
}

const report = () => fileContent(new File([bytes], 'report.pdf', { type: 'application/pdf' }), { citations: true, context: 'Of 2026.' })
const question = async (): Promise<PromptInput> => {
  const picture = await imageContent(new Blob([Buffer.from(pixel, 'base64')], { type: 'image/png' }))
  return { role: 'user', content: [{ type: 'text', text: 'What is this?' }, await report(), picture] }
}
const contents = (messages: readonly AgentMessage[]) => messages.flatMap((message) => (message.role === 'user' ? [message.content] : []))

it('sends a File and a Blob to the model, and reopens them', async () => {
  const session = open('files')
  const { status } = await session.prompt(await question()).result
  const [text, file, picture] = heard
  expect(status).toBe('completed')
  expect(text).toMatchObject({ type: 'text', text: 'What is this?' })
  expect(file).toMatchObject({ type: 'file', mimeType: 'application/pdf', name: 'report.pdf', citations: true, context: 'Of 2026.' })
  expect(file).toHaveProperty('data', Buffer.from(bytes).toString('base64'))
  expect(picture).toMatchObject({ type: 'image', mimeType: 'image/png', data: pixel })
  const again = await open('files').load()
  expect(contents(again)).toEqual(contents(session.messages))
  expect(contents(again)).toEqual([heard])
})

it('sends a file without text, and in queued messages', async () => {
  const session = open('queued')
  const run = session.prompt({ role: 'user', content: [await report()] })
  const receipt = session.followUp({ role: 'user', content: [await report(), { type: 'text', text: 'And this?' }] })
  await run.result
  expect(await receipt.settled).toBe('delivered')
  expect(heard.map(({ type }) => type)).toEqual(['file', 'text'])
  session.close()
})

it('rejects bytes that do not match their type before sending', async () => {
  const session = open('refused')
  const page = { type: 'file' as const, mimeType: 'application/pdf', data: btoa('<script></script>') }
  expect(() => session.prompt({ role: 'user', content: [page] })).toThrow('is declared as application/pdf')
  expect(session.currentRun).toBeUndefined()
  expect(await session.prompt('Never mind.').text()).toBe('Read.')
})
