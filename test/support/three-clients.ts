import { HttpAgent } from '@ag-ui/client'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { expect } from 'vitest'
import { type RemoteSession, remoteSession } from '../../src/client.ts'
import type { AgentEvent, AgentRun, PendingApproval } from '../../src/index.ts'
import { responseText } from '../../testing/endpoint/endpoint-client.ts'

type Fetch = typeof globalThis.fetch

/** A chat of the AI SDK, unmodified: what stands behind `useChat`. */
function chatOf(url: string, id: string, fetch: Fetch, messages: UIMessage[] = []): Chat<UIMessage> {
  const transport = new DefaultChatTransport({ api: `${url}/chat`, fetch })
  return new Chat({ id, messages, transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
}

/** A client of AG-UI, unmodified. */
function agUiClientOf(url: string, threadId: string, fetch: Fetch): HttpAgent {
  return new HttpAgent({ url: `${url}/agui`, threadId, fetch: (input, init) => fetch(input, init) })
}

const textOf = ({ parts }: UIMessage): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** How it stands with the last call that a chat shows. */
function lastCallOf({ lastMessage }: Chat<UIMessage>): string | undefined {
  return lastMessage?.parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part.state] : [])).at(-1)
}

const noMessage: UIMessage = { id: '', role: 'assistant', parts: [] }

/** All that the model has said to a client of AG-UI. */
function prompt({ messages }: HttpAgent): string {
  return messages.map(({ role, content }) => (role === 'assistant' && typeof content === 'string' ? content : '')).join('')
}

/** A fetch whose first answer is cut off after some bytes, as by a train in a tunnel. */
function cutOnce(fetch: Fetch, afterBytes: number, how: 'error' | 'end', onCut: (bytes: number) => void = () => undefined): Fetch {
  let isCut = false
  return async (input, init) => {
    const response = await fetch(input, init)
    // What is no stream is never long.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isCut || !isStream || response.body === null) return response
    isCut = true
    let bytes = 0
    const reader = response.body.getReader()
    const cut = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        bytes += value.length
        controller.enqueue(value)
        if (bytes <= afterBytes) return
        onCut(bytes)
        if (how === 'error') controller.error(new TypeError('network error'))
        else controller.close()
        await reader.cancel().catch(() => undefined)
      },
    })
    return new Response(cut, { status: response.status, headers: response.headers })
  }
}

/**
 * Three clients of three protocols talk to one run, each loses its connection in the middle, and one of them answers for all: in the end they
 * have the same text.
 */
export async function meet({ url, fetch, sessionId }: { url: string; fetch: Fetch; sessionId: string }): Promise<void> {
  const agUi = agUiClientOf(url, sessionId, cutOnce(fetch, 1500, 'end'))
  agUi.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Write to her.' })
  const lost = agUi.runAgent()

  const cuts: number[] = []
  const ours = remoteSession({
    url,
    sessionId,
    fetch: cutOnce(fetch, 2500, 'error', (bytes) => cuts.push(bytes)),
    reconnect: { initialDelayMs: 10 },
  })
  const run = await runOf(ours)
  const seen: AgentEvent[] = []
  const asked = new Promise<PendingApproval>((resolve) => {
    run.subscribe((event) => {
      seen.push(event)
      if (event.type === 'approvalRequested') resolve(event)
    })
  })
  const chat = chatOf(url, sessionId, cutOnce(fetch, 800, 'error'), await messagesOf(url, sessionId, fetch))
  await chat.resumeStream().catch(() => undefined)
  await lost
  const parts = [prompt(agUi), textOf(chat.lastMessage ?? noMessage)]

  // Ours comes back by itself; the others are told to.
  await Promise.all([agUi.runAgent(), chat.resumeStream()])
  const request = await asked
  expect(agUi.pendingInterrupts.map(({ toolCallId }) => toolCallId)).toEqual([request.toolCallId])
  expect(lastCallOf(chat)).toBe('approval-requested')

  // One answers, the others see it.
  run.approve(request)
  const { text, status } = await run.result
  expect([status, cuts.length]).toEqual(['completed', 1])
  const [interrupt] = agUi.pendingInterrupts
  await agUi.runAgent({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  const back = chatOf(url, sessionId, fetch, await messagesOf(url, sessionId, fetch))
  expect(lastCallOf(back)).toBe('output-available')
  const whole = responseText(seen)
  expect(whole.endsWith(text)).toBe(true)
  expect([textOf(back.lastMessage ?? noMessage), prompt(agUi)]).toEqual([whole, whole])
  // In the middle the others had the beginning alone.
  for (const part of parts) expect([whole.startsWith(part), part.length < whole.length]).toEqual([true, true])
  await ours.close()
}

/** The run that is on, once there is one. */
async function runOf(session: RemoteSession): Promise<AgentRun> {
  for (;;) {
    await session.load().catch(() => undefined)
    if (session.currentRun !== undefined) return session.currentRun
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function messagesOf(url: string, sessionId: string, fetch: Fetch): Promise<UIMessage[]> {
  return (await (await fetch(`${url}/chat/${sessionId}`)).json()).messages
}
