import { type AnthropicOptions, anthropic } from '../../../src/providers/anthropic/index.ts'
import type { Content } from '../../../src/types/content.ts'
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from '../../../src/types/message.ts'
import type { StreamEvent, StreamRequest } from '../../../src/types/provider.ts'

/** A key that must appear nowhere but in the request. */
export const canary = 'sk-ant-canary-0123456789'

export function user(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: 1 }
}

export function answer(content: Content[], changes: Partial<AssistantMessage> = {}): AssistantMessage {
  const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }
  return { role: 'assistant', content, stopReason: 'stop', model: 'claude-test', provider: 'anthropic', usage, timestamp: 1, ...changes }
}

export function call(id: string, args = {}): Content {
  return { type: 'toolCall', id, name: 'read', arguments: args }
}

export function result(toolCallId: string, content: Content[] = [{ type: 'text', text: 'ok' }], isError = false): ToolResultMessage {
  return { role: 'toolResult', toolCallId, toolName: 'read', content, isError, timestamp: 1 }
}

/** A request for `id` with everything else at its default. */
export function request(id: string, changes: Partial<StreamRequest> = {}, options: AnthropicOptions = {}): StreamRequest {
  return {
    model: anthropic(id, options).config,
    credential: canary,
    systemPrompt: 'Be brief.',
    messages: [user('Hi')],
    tools: [],
    thinkingLevel: 'off',
    cache: { type: 'auto' },
    ...changes,
  }
}

/** What came of one call: the message or the error, and every event. */
export interface Outcome {
  message?: AssistantMessage
  error?: unknown
  events: StreamEvent[]
}

/** One call through an injected fetch. */
export async function streamed(
  fetch: typeof globalThis.fetch,
  options: AnthropicOptions = {},
  signal: AbortSignal = new AbortController().signal,
  id = 'claude-test',
): Promise<Outcome> {
  const { provider } = anthropic(id, { ...options, fetch })
  const events: StreamEvent[] = []
  try {
    const message = await provider.stream(request(id), (event) => events.push(event), signal)
    return { message, events }
  } catch (error) {
    return { error, events }
  }
}

/** The body that is sent for `request`, parsed. */
export async function bodyFor(made: StreamRequest, options: AnthropicOptions = {}): Promise<Record<string, unknown>> {
  const { body } = await anthropic(made.model.id, options).provider.encode(made)
  return JSON.parse(body)
}

/** The messages of a body, as far as tests read them. */
export type WireMessages = { role: string; content: Record<string, unknown>[] }[]

/** The wire messages that `messages` become. */
export async function wireMessages(messages: readonly Message[], changes: Partial<StreamRequest> = {}): Promise<WireMessages> {
  const body = await bodyFor(request('claude-test', { messages, cache: { type: 'disabled' }, ...changes }))
  // Checked by the grammar test.
  return body.messages as WireMessages
}
