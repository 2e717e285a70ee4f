import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, type AgentRun, type AgentTool } from '../../../src/index.ts'
import { asEmitted } from '../../../src/internal.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import {
  readChatRequest,
  toUiMessages,
  type UiChunk,
  uiMessageEncoder,
  uiMessageSse,
  uiMessageStreamEnd,
  uiMessageStreamHeaders,
} from '../../../src/ui/ai-sdk.ts'
import { asks, copy } from '../scenarios.ts'

/** An unmodified chat of the AI SDK in front of an agent, whose connection breaks after `cutAfter` chunks of the first response. */
function page(script: Script, tools: AgentTool[], cutAfter = Number.POSITIVE_INFINITY) {
  const agent = new Agent({ model: scripted(script), tools })
  const log: AgentEvent[] = []
  agent.subscribe((event) => log.push(copy(asEmitted(event))))
  let run: AgentRun | undefined
  let left = cutAfter

  /** The events of the run from the first one; those before `seen` are known to the client. */
  async function* chunks(seen: number): AsyncGenerator<UiChunk> {
    const encoder = uiMessageEncoder()
    for (let at = 0; ; ) {
      const event = log[at]
      if (event === undefined) {
        await new Promise((resolve) => setImmediate(resolve))
        if (log[at] !== undefined || encoder.waiting === 'no') continue
        yield* encoder.suspend()
        return
      }
      at += 1
      if (at <= seen) encoder.skip(event)
      else yield* encoder.encode(event)
      if (event.type === 'agentEnd') return
    }
  }
  function response(from: AsyncIterable<UiChunk>) {
    const iterator = from[Symbol.asyncIterator]()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await iterator.next()
        left -= 1
        if (left === 0) throw new TypeError('network error')
        controller.enqueue(new TextEncoder().encode(done === true ? uiMessageStreamEnd : uiMessageSse(value)))
        if (done === true) controller.close()
      },
    })
    return new Response(body, { headers: uiMessageStreamHeaders })
  }
  const fetch = (async (_url: unknown, init: RequestInit = {}) => {
    if (init.method === 'GET')
      return log.at(-1)?.type === 'agentEnd' && left > 0 ? new Response(null, { status: 204 }) : response(chunks(0))
    const request = readChatRequest(init.body).value
    const seen = run === undefined ? 0 : log.length
    run ??= agent.prompt(request?.message ?? '')
    for (const { approved, ...asked } of request?.decisions ?? []) approved ? run.approve(asked) : run.deny(asked, asked.reason)
    return response(chunks(seen))
  }) as typeof globalThis.fetch
  const chat = new Chat({
    transport: new DefaultChatTransport({ api: 'http://127.0.0.1/chat', fetch }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  return { agent, chat }
}

const settled = async (chat: Chat<never> | ReturnType<typeof page>['chat'], until: () => boolean) => {
  while (!until() || chat.status === 'submitted' || chat.status === 'streaming') await new Promise((resolve) => setImmediate(resolve))
}
const textOf = (chat: ReturnType<typeof page>['chat']) =>
  chat.lastMessage?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const pay: Script = [
  { text: 'I pay.', toolCalls: [{ name: 'pay', arguments: { amount: 3 } }] },
  { thinking: 'hm', text: ' Done.' },
]

describe('an unmodified chat of the AI SDK', () => {
  it('streams, and identifies messages by the ids of the history', async () => {
    const { agent, chat } = page([{ text: 'Hello there, who are you?' }], [])
    await chat.sendMessage({ text: 'hi' })
    expect(chat.error).toBeUndefined()
    expect(textOf(chat)).toBe('Hello there, who are you?')
    expect(chat.messages.map(({ id }) => id)).toEqual(toUiMessages(agent.messages).map(({ id }) => id))
  })

  it.each([true, false])('requests approval and continues with the decision: %s', async (approved) => {
    const { agent, chat } = page(pay, [asks])
    await chat.sendMessage({ text: 'pay' })
    const part = chat.lastMessage?.parts.find((each) => each.type === 'dynamic-tool')
    expect(part?.state).toBe('approval-requested')
    await chat.addToolApprovalResponse({ id: part?.approval?.id ?? '', approved, reason: 'because' })
    await settled(chat, () => textOf(chat) === 'I pay. Done.')
    expect(chat.error).toBeUndefined()
    expect(chat.messages).toHaveLength(2)
    const [, , result] = agent.messages
    expect(result).toMatchObject({ role: 'toolResult', isError: !approved })
    expect(chat.lastMessage?.parts.find((each) => each.type === 'dynamic-tool')?.state).toBe(
      approved ? 'output-available' : 'output-denied',
    )
  })

  it.each([2, 3, 4, 5, 6])('resumes without gaps or duplicates after %d chunks', async (cutAfter) => {
    const { agent, chat } = page([{ thinking: 'Let me think about it.', text: 'A text in several pieces, to be cut.' }], [], cutAfter)
    await chat.sendMessage({ text: 'hi' })
    expect(chat.status).toBe('error')
    chat.clearError()
    await chat.resumeStream()
    expect(chat.error).toBeUndefined()
    const { id, parts } = copy(toUiMessages(agent.messages)).at(-1) ?? {}
    expect(copy(chat.lastMessage)).toMatchObject({ id, parts })
    expect(chat.lastMessage?.parts).toHaveLength(parts?.length ?? -1)
    expect(chat.messages).toHaveLength(2)
  })

  it("shows the run's error", async () => {
    const { chat } = page([{ text: 'half', fail: { code: 'auth', message: 'wrong key', afterText: true } }], [])
    await chat.sendMessage({ text: 'hi' })
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toContain('wrong key')
    expect(textOf(chat)).toBe('half')
  })
})
