import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { tool } from '../../support/play.ts'

const script: Script = ({ messages }) =>
  messages.at(-1)?.role === 'user' ? { toolCalls: [{ id: 'c1', name: 'send', arguments: {} }] } : { text: 'Done.' }

/** A server whose hook sends a part and updates another one, while a call waits for its approval too. */
function server(hook: 'beforeTurn' | 'prepareTurn' | 'afterTurn') {
  let count = 0
  const hooks: LoopHooks = {
    [hook]: ({ data }: Parameters<NonNullable<LoopHooks['prepareTurn']>>[0]) => {
      count += 1
      data('step', count)
      data('steps', count, { id: 's' })
    },
  }
  const send = { ...tool('send', () => 'Sent.'), needsApproval: true }
  const sessions = memoryLiveSessions({
    store: memorySessionStore(),
    agent: () => ({ model: scripted(script), tools: [send], hooks, approvalTimeoutMs: 1 }),
    logger: false,
  })
  const app = createAgentApp({ sessions, authorize: () => 'acme', logger: false })
  const paused = () => expect.poll(async () => (await (await app.request('/sessions/s?events=false')).json()).runningLoopId).toBeUndefined()
  return { app, paused }
}

describe.each(['beforeTurn', 'prepareTurn', 'afterTurn'] as const)('data of %s that a client missed while its run waited', (hook) => {
  it('reaches useChat with the response that continues', async () => {
    const { app, paused } = server(hook)
    const fetch: typeof globalThis.fetch = async (input, init) => app.request(new Request(input, init))
    const chat = new Chat({ id: 's', transport: new DefaultChatTransport({ api: 'http://phi.test/chat', fetch }) })
    await chat.sendMessage({ text: 'Send it.' })
    await paused()
    const id = chat.lastMessage?.parts.flatMap((part) => (part.type === 'dynamic-tool' ? (part.approval?.id ?? []) : []))[0] ?? ''
    await chat.addToolApprovalResponse({ id, approved: true })
    await chat.sendMessage()
    const stored: UIMessage[] = (await (await app.request('/chat/s')).json()).messages
    const dataOf = (message: UIMessage | undefined) => message?.parts.filter(({ type }) => type.startsWith('data-'))
    expect(dataOf(chat.lastMessage)).toEqual(dataOf(stored.at(-1)))
    expect(chat.lastMessage?.parts.map(({ type }) => type)).toEqual(stored.at(-1)?.parts.map(({ type }) => type))
  })

  it('reaches an AG-UI client with the run that continues', async () => {
    const { app, paused } = server(hook)
    const shown = new Map<string, unknown>()
    const post = async (more: object) => {
      const input = { threadId: 's', runId: crypto.randomUUID(), messages: [], tools: [], context: [], state: {}, forwardedProps: {} }
      const headers = { 'content-type': 'application/json' }
      const text = await (await app.request('/agui', { method: 'POST', headers, body: JSON.stringify({ ...input, ...more }) })).text()
      const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
      for (const { type, name, value } of events) if (type === 'CUSTOM' && !name.startsWith('phi.')) shown.set(value.id, value.data)
      await paused()
      return events
    }
    const first = await post({ messages: [{ id: 'm1', role: 'user', content: 'Send it.' }] })
    const [{ id: interruptId }] = first.at(-1).outcome.interrupts
    await post({ resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] })
    const { messages } = await (await app.request('/sessions/s/history')).json()
    const stored = messages.flatMap((message: { role: string; kind?: string; data?: { dataId: string; value: unknown } }) =>
      message.kind === 'data' ? [[message.data?.dataId, message.data?.value]] : [],
    )
    expect(shown).toEqual(new Map(stored))
  })
})
