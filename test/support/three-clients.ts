import { HttpAgent } from '@ag-ui/client'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { expect } from 'vitest'
import type { AgentEvent } from '../../src/index.ts'
import { allEvents, type EndpointClient, eventsOf, eventsUntil, saidIn } from '../../src/testing/endpoint-client.ts'

type Fetch = typeof globalThis.fetch

/** A chat of the AI SDK, unmodified: what stands behind `useChat`. */
export function chatOf(url: string, id: string, fetch: Fetch, messages: UIMessage[] = []): Chat<UIMessage> {
  const transport = new DefaultChatTransport({ api: `${url}/chat`, fetch })
  return new Chat({ id, messages, transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
}

/** A client of AG-UI, unmodified. */
export function agUiClientOf(url: string, threadId: string, fetch: Fetch): HttpAgent {
  return new HttpAgent({ url: `${url}/agui`, threadId, fetch: (input, init) => fetch(input, init) })
}

export const textOf = ({ parts }: UIMessage): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** How it stands with the last call that a chat shows. */
function lastCallOf({ lastMessage }: Chat<UIMessage>): string | undefined {
  return lastMessage?.parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part.state] : [])).at(-1)
}

const noMessage: UIMessage = { id: '', role: 'assistant', parts: [] }

/** All that the model has said to a client of AG-UI. */
export function saidTo({ messages }: HttpAgent): string {
  return messages.map(({ role, content }) => (role === 'assistant' && typeof content === 'string' ? content : '')).join('')
}

/** A fetch whose first answer is cut off after some bytes, as by a train in a tunnel. */
export function cutOnce(fetch: Fetch, afterBytes: number, how: 'error' | 'end'): Fetch {
  let isCut = false
  return async (input, init) => {
    const response = await fetch(input, init)
    if (isCut || response.body === null) return response
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
export async function meet({ url, fetch, client }: { url: string; fetch: Fetch; client: EndpointClient }): Promise<void> {
  const agUi = agUiClientOf(url, client.sessionId, cutOnce(fetch, 1500, 'end'))
  agUi.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Write to her.' })
  const lost = agUi.runAgent()
  const { runningLoopId = '' } = await running(client)

  const seen: AgentEvent[] = []
  for await (const event of eventsOf(await client.events(runningLoopId))) {
    seen.push(event)
    if (seen.length === 15) break // leaves the connection
  }
  const chat = chatOf(url, client.sessionId, cutOnce(fetch, 800, 'error'), await messagesOf(client))
  await chat.resumeStream().catch(() => undefined)
  await lost
  const parts = [saidIn(seen), saidTo(agUi), textOf(chat.lastMessage ?? noMessage)]

  // All of them come back.
  const again = agUi.runAgent()
  const resumed = chat.resumeStream()
  seen.push(...(await eventsUntil(await client.events(runningLoopId, seen.at(-1)?.seq), 'approvalRequested')))
  await Promise.all([again, resumed])
  const request = seen.at(-1)
  if (request?.type !== 'approvalRequested') throw new Error('Nobody was asked.')
  expect(agUi.pendingInterrupts.map(({ toolCallId }) => toolCallId)).toEqual([request.toolCallId])
  expect(lastCallOf(chat)).toBe('approval-requested')

  // One answers, the others see it.
  const { toolCallId, argumentsHash } = request
  expect((await client.post(`/approvals/${toolCallId}`, { approved: true, argumentsHash })).status).toBe(202)
  seen.push(...(await allEvents(await client.events(runningLoopId, request.seq))))
  const [interrupt] = agUi.pendingInterrupts
  await agUi.runAgent({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  const back = chatOf(url, client.sessionId, fetch, await messagesOf(client))
  expect(lastCallOf(back)).toBe('output-available')
  const whole = saidIn(await allEvents(await client.events(runningLoopId)))
  expect([saidIn(seen), textOf(back.lastMessage ?? noMessage), saidTo(agUi)]).toEqual([whole, whole, whole])
  // In the middle each had the beginning alone.
  for (const part of parts) expect([whole.startsWith(part), part.length < whole.length]).toEqual([true, true])
}

async function running(client: EndpointClient): Promise<{ runningLoopId?: string }> {
  for (;;) {
    const response = await client.get('')
    const body = response.ok ? await response.json() : {}
    if (body.runningLoopId !== undefined) return body
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function messagesOf(client: EndpointClient): Promise<UIMessage[]> {
  return (await (await client.get('/chat')).json()).messages
}
