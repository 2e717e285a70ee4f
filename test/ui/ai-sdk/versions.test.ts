import { afterAll, describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { endpointAgent } from '../../../testing/index.ts'
import { type AnyChat, chats } from '../../support/ai-sdk-versions.ts'

const search = { type: 'serviceTool', id: 'ws_1', name: 'web_search', input: { query: 'tea' } } as const
const found: Script = [
  {
    text: 'Tea is a drink.',
    citations: [
      { url: 'https://tea.example/a', title: 'Tea' },
      { title: 'Report', document: { index: 0, unit: 'page', start: 3, end: 4 } },
    ],
    blocks: [
      { ...search, status: 'running' },
      { ...search, status: 'done', output: [{ url: 'https://tea.example/a' }] },
      { ...search, id: 'ws_2', status: 'failed', error: { code: 'too_many_requests' } },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'file', mimeType: 'text/csv', data: 'YSxi', name: 'a.csv' },
    ],
  },
]
const agentOf = (sessionId: string) => {
  if (sessionId.startsWith('found')) return { model: scripted(found), logger: false as const }
  if (!sessionId.startsWith('retry')) return endpointAgent(sessionId)
  const script = [{ text: 'Half', fail: { code: 'network' as const, message: 'Cut.', afterText: true } }, { text: 'Whole.' }]
  return { model: scripted(script), retry: { initialDelayMs: 1 }, logger: false as const }
}
const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => agentOf(sessionId) })
afterAll(() => sessions.close())
const app = createAgentApp({ sessions, authorize: 'loopbackOnly' })

/** A chat of `version` in front of the endpoint. */
function open(version: 5 | 6 | 7, kind: string): AnyChat {
  const fetch: typeof globalThis.fetch = async (input, init) => app.fetch(new Request(input, init))
  return new chats[version]('http://localhost/chat', `${kind}-${crypto.randomUUID()}`, fetch)
}

const last = ({ messages }: AnyChat) => messages.at(-1)?.parts ?? []
const textOf = (chat: AnyChat) =>
  last(chat)
    .map(({ text }) => text ?? '')
    .join('')
const callOf = (chat: AnyChat) => last(chat).find(({ type }) => type === 'dynamic-tool')

async function until(chat: AnyChat, is: () => boolean): Promise<void> {
  while (!is() && chat.error === undefined) await new Promise((resolve) => setImmediate(resolve))
}

describe.each([5, 6, 7] as const)('conversation in AI SDK %d', (version) => {
  it('streams a conversation and regenerates a response', async () => {
    const chat = open(version, 'talk')
    await chat.sendMessage({ text: 'Hi.' })
    const said = textOf(chat)
    expect([chat.error, chat.status, said.length > 0]).toEqual([undefined, 'ready', true])
    await chat.regenerate()
    expect([chat.error, chat.status, textOf(chat)]).toEqual([undefined, 'ready', said])
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })
})

describe.each([5, 6, 7] as const)('parts in AI SDK %d', (version) => {
  it('shows sources, files and hosted tools, also after a reload', async () => {
    const chat = open(version, 'found')
    await chat.sendMessage({ text: 'Tea?' })
    const tool = { type: 'dynamic-tool', toolName: 'web_search', input: { query: 'tea' }, providerExecuted: true }
    const shown = [
      { type: 'step-start' },
      { type: 'text', text: 'Tea is a drink.' },
      { ...tool, toolCallId: 'ws_1', state: 'output-available', output: [{ url: 'https://tea.example/a' }] },
      { ...tool, toolCallId: 'ws_2', state: 'output-error', errorText: 'too_many_requests' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' },
      { type: 'file', mediaType: 'text/csv', url: 'data:text/csv;base64,YSxi' },
      { type: 'source-url', url: 'https://tea.example/a', title: 'Tea' },
      { type: 'source-document', mediaType: 'application/pdf', title: 'Report' },
    ]
    expect([chat.error, chat.status]).toEqual([undefined, 'ready'])
    expect(last(chat)).toMatchObject(shown)
    const reloaded = await (await app.request(`http://localhost/chat/${chat.id}`)).json()
    expect(reloaded.messages.at(-1).parts).toMatchObject(shown)
  })
})

describe.each([6, 7] as const)('approvals in AI SDK %d', (version) => {
  it.each([
    [true, 'output-available'],
    [false, 'output-denied'],
  ] as const)('requests approval and continues with the decision: %s', async (approved, state) => {
    const chat = open(version, 'ask')
    await chat.sendMessage({ text: 'Go.' })
    expect(callOf(chat)?.state).toBe('approval-requested')
    await chat.addToolApprovalResponse?.({ id: callOf(chat)?.approval?.id ?? '', approved })
    await until(chat, () => chat.status === 'ready' && callOf(chat)?.state === state)
    expect([chat.error, callOf(chat)?.state]).toEqual([undefined, state])
    expect(last(chat).filter(({ type }) => type === 'dynamic-tool')).toHaveLength(1)
    expect(textOf(chat)).not.toBe('')
  })
})

describe('features missing in older AI SDK versions', () => {
  it('names the required version for approval requests in AI SDK 5', async () => {
    const chat = open(5, 'ask')
    await chat.sendMessage({ text: 'Go.' })
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toContain('This requires AI SDK 6 or 7.')
  })

  it.each([5, 6] as const)('names the required version for a retried response in AI SDK %d', async (version) => {
    const chat = open(version, 'retry')
    await chat.sendMessage({ text: 'Go.' })
    expect(chat.error?.message).toContain('This requires AI SDK 7.')
    const current = open(7, 'retry')
    await current.sendMessage({ text: 'Go.' })
    expect([current.error, textOf(current)]).toEqual([undefined, 'Whole.'])
  })

  it.each([5, 6] as const)('names the required version for an aborted run in AI SDK %d', async (version) => {
    const chat = open(version, 'slow')
    const sent = chat.sendMessage({ text: 'Go.' })
    await until(chat, () => textOf(chat) !== '')
    await app.request(`http://localhost/chat/${chat.id}/stop`, { method: 'POST' })
    await sent
    expect(chat.error?.message).toContain('This requires AI SDK 7.')
  })
})
