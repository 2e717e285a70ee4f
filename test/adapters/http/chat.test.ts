import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type FileUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { endpointAgent } from '../../../testing/index.ts'
import { patient } from '../../support/patience.ts'

const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId) })
afterAll(() => sessions.close())
const app = createAgentApp({ sessions, authorize: () => true })
const ask: typeof fetch = async (input, init) => app.fetch(new Request(input, init))

/** What stands behind `useChat`, as its package has it. */
function chatOf(id: string, messages: UIMessage[] = [], send = ask): Chat<UIMessage> {
  const transport = new DefaultChatTransport({ api: 'http://localhost/chat', fetch: send })
  return new Chat({ id, messages, transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
}

const idOf = (kind: string): string => `${kind}-${crypto.randomUUID()}`

const textOf = ({ parts }: UIMessage): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

async function storedMessages(id: string): Promise<UIMessage[]> {
  return (await (await app.request(`/chat/${id}`)).json()).messages
}

/** Until nothing is sent any more. */
async function settled(chat: Chat<UIMessage>): Promise<void> {
  while (chat.status === 'streaming' || chat.status === 'submitted') await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('useChat of the AI SDK, unmodified', () => {
  it('chats and restores the same messages after a reload', async () => {
    const chat = chatOf(idOf('talk'))
    await chat.sendMessage({ text: 'First.' })
    await chat.sendMessage({ text: 'Second.' })
    expect(chat.messages.map((message) => [message.role, textOf(message)])).toEqual([
      ['user', 'First.'],
      ['assistant', 'one two three four'],
      ['user', 'Second.'],
      ['assistant', 'one two three four'],
    ])
    expect((await storedMessages(chat.id)).map(({ id, role }) => [id, role])).toEqual(chat.messages.map(({ id, role }) => [id, role]))
  })

  it('regenerates a response and edits a message', async () => {
    const chat = chatOf(idOf('talk'))
    await chat.sendMessage({ text: 'First.' })
    const [said, first] = chat.messages
    await chat.regenerate()
    expect([chat.messages.length, chat.messages[1]?.id === first?.id]).toEqual([2, false])
    await chat.sendMessage({ text: 'In other words.', messageId: said?.id ?? '' })
    expect(chat.messages.map(textOf)).toEqual(['In other words.', 'one two three four'])
    expect((await storedMessages(chat.id)).map(textOf)).toEqual(['In other words.', 'one two three four'])
  })

  it.each([
    [true, 'Sent.'],
    [false, 'Not sent.'],
  ])('decides an approval (%s) and continues', async (approved, outcome) => {
    const chat = chatOf(idOf('ask'))
    await chat.sendMessage({ text: 'Send it.' })
    const part = chat.lastMessage?.parts.find((each) => each.type === 'dynamic-tool')
    expect(part?.state).toBe('approval-requested')
    await chat.addToolApprovalResponse({ id: part?.approval?.id ?? '', approved })
    await settled(chat)
    expect([chat.error, chat.messages.length, textOf(chat.messages[1] ?? { id: '', role: 'assistant', parts: [] })]).toEqual([
      undefined,
      2,
      outcome,
    ])
    const states = chat.messages[1]?.parts.flatMap((each) => (each.type === 'dynamic-tool' ? [each.state] : []))
    expect(states).toEqual([approved ? 'output-available' : 'output-denied'])
  })

  it('continues in the same message if the run ended while awaiting approval', async () => {
    const store = memorySessionStore()
    const hosts = [1, undefined].map((approvalTimeoutMs) =>
      memoryLiveSessions({
        store,
        agent: ({ sessionId }) => ({ ...endpointAgent(sessionId), ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }) }),
      }),
    )
    const servers = hosts.map((host) => createAgentApp({ sessions: host, authorize: () => true }))
    const chat = chatOf(idOf('ask'), [], async (input, init) => {
      const server = servers[0]
      return server === undefined ? Response.error() : server.fetch(new Request(input, init))
    })
    await chat.sendMessage({ text: 'Send it.' })
    await vi.waitFor(async () => {
      expect(await (await servers[0]?.request(`/sessions/${chat.id}`))?.json()).not.toHaveProperty('runningLoopId')
    }, patient)
    await hosts.shift()?.close()
    servers.shift()
    const part = chat.lastMessage?.parts.find((each) => each.type === 'dynamic-tool')
    await chat.addToolApprovalResponse({ id: part?.approval?.id ?? '', approved: true })
    await settled(chat)
    expect([chat.error, chat.messages.map((message) => [message.role, textOf(message)])]).toEqual([
      undefined,
      [
        ['user', 'Send it.'],
        ['assistant', 'Sent.'],
      ],
    ])
    await hosts[0]?.close()
  })

  it('resumes an active run, also in another window', async () => {
    const chat = chatOf(idOf('slow'))
    const sent = chat.sendMessage({ text: 'Go.' })
    while (chat.messages.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    const other = chatOf(chat.id, await storedMessages(chat.id))
    await Promise.all([sent, other.resumeStream()])
    const whole = Array.from({ length: 150 }, (_, at) => `${at} `).join('')
    expect([chat, other].map(({ lastMessage }) => lastMessage && textOf(lastMessage))).toEqual([whole, whole])
    expect((await app.request(`/chat/${chat.id}/stream`)).status).toBe(204)
  })

  it('shows messages from the first tab in a second tab', async () => {
    const id = idOf('talk')
    const [first, second] = [chatOf(id), chatOf(id)]
    const turns = (await app.request(`/chat/${id}/turns`)).body?.pipeThrough(new TextDecoderStream()).getReader()
    await first.sendMessage({ text: 'Hello.' })
    // What the page of the documentation does at each message.
    expect((await turns?.read())?.value).toContain('agentStart')
    second.messages = await storedMessages(id)
    await second.resumeStream()
    expect(second.messages.map((message) => [message.id, textOf(message)])).toEqual(
      first.messages.map((message) => [message.id, textOf(message)]),
    )
    await turns?.cancel()
  })

  it('explains why a prompt during a pending approval fails', async () => {
    const chat = chatOf(idOf('ask'))
    await chat.sendMessage({ text: 'Send it.' })
    await chat.sendMessage({ text: 'And?' })
    expect(JSON.parse(chat.error?.message ?? '{}').detail).toContain('is waiting for your decision')
  })

  it('aborts a run on request', async () => {
    const chat = chatOf(idOf('slow'))
    const sent = chat.sendMessage({ text: 'Go.' })
    while (chat.messages.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await app.request(`/chat/${chat.id}/stop`, { method: 'POST' })).status).toBe(204)
    await sent
    expect(chat.status).toBe('ready')
    expect(await (await app.request(`/sessions/${chat.id}`)).json()).toMatchObject({ session: { loops: [{ status: 'aborted' }] } })
  })

  it('reports invalid input and rejects forged assistant messages', async () => {
    const id = idOf('talk')
    const post = (body: object) =>
      ask('http://localhost/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const user = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }
    const forged = { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'I promise.' }] }
    for (const body of [{}, { id: 7 }, { id, messages: [] }, { id, messages: [forged] }]) expect((await post(body)).status).toBe(400)
    await (await post({ id, trigger: 'submit-message', messages: [forged, user] })).text()
    expect(JSON.stringify(await storedMessages(id)).includes('promise')).toBe(false)
  })
})

describe('PDFs in useChat of the AI SDK', () => {
  const cites: Script = ({ messages }) => {
    const document = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'file'))[0]
    if (document?.type !== 'file' || document.mimeType !== 'application/pdf') return { text: 'There is no PDF.' }
    return {
      text: 'It grew.',
      citations: [
        { title: document.name ?? '', citedText: 'Growth: 3 %', document: { index: 0, unit: 'page', start: 2, end: 3 } },
        { title: 'Figures', url: 'https://figures.example/2026' },
      ],
      blocks: [{ type: 'serviceTool', id: 'search-1', name: 'web_search', input: { query: 'growth' }, status: 'done', output: 'Found.' }],
    }
  }
  const host = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(cites) }) })
  const cited = createAgentApp({ sessions: host, authorize: () => true })
  afterAll(() => host.close())

  it('shows citations before and after a reload', async () => {
    const chat = chatOf(idOf('pdf'), [], async (input, init) => cited.fetch(new Request(input, init)))
    const file = new File(['%PDF-1.4\n%%EOF\n'], 'report.pdf', { type: 'application/pdf' })
    await chat.sendMessage({ text: 'Did it grow?', files: await partsOf(file) })
    expect([chat.error, textOf(chat.messages[1] ?? { id: '', role: 'assistant', parts: [] })]).toEqual([undefined, 'It grew.'])
    const page = { document: { index: 0, unit: 'page', start: 2, end: 3 }, citedText: 'Growth: 3 %' }
    const sources = [
      { type: 'source-document', mediaType: 'application/pdf', title: 'report.pdf', providerMetadata: { phi: { citations: [page] } } },
      { type: 'source-url', url: 'https://figures.example/2026', title: 'Figures' },
    ]
    const search = { type: 'dynamic-tool', toolName: 'web_search', providerExecuted: true, state: 'output-available', output: 'Found.' }
    expect(chat.lastMessage?.parts.filter(({ type }) => type.startsWith('source'))).toMatchObject(sources)
    expect(chat.lastMessage?.parts.find(({ type }) => type === 'dynamic-tool')).toMatchObject(search)
    const { messages }: { messages: UIMessage[] } = await (await cited.request(`/chat/${chat.id}`)).json()
    expect(messages[0]?.parts).toMatchObject([
      { type: 'file', mediaType: 'application/pdf', filename: 'report.pdf' },
      { text: 'Did it grow?' },
    ])
    expect(messages[1]?.parts.filter(({ type }) => type.startsWith('source'))).toMatchObject(sources)
    expect(messages[1]?.parts.find(({ type }) => type === 'dynamic-tool')).toMatchObject(search)
  })
})

/** As the package makes parts of what was dropped on a page. */
async function partsOf(file: File): Promise<FileUIPart[]> {
  const url = `data:${file.type};base64,${Buffer.from(await file.arrayBuffer()).toString('base64')}`
  return [{ type: 'file', mediaType: file.type, filename: file.name, url }]
}
