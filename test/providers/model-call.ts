import type { Content } from '../../src/contract/message/content.ts'
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from '../../src/contract/message/message.ts'
import type { ModelConfig } from '../../src/contract/model/model-config.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import type { StreamEvent, StreamProvider, StreamRequest } from '../../src/types/model/provider.ts'

export function user(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: 1 }
}

/** What the tool `read` returned. */
export function result(toolCallId: string, content: Content[] = [{ type: 'text', text: 'ok' }], isError = false): ToolResultMessage {
  return { role: 'toolResult', toolCallId, toolName: 'read', content, isError, timestamp: 1 }
}

/** What `author` answered, or another one with `changes`. */
export function answerBy(
  author: Pick<AssistantMessage, 'model' | 'provider'>,
  content: Content[],
  changes: Partial<AssistantMessage> = {},
): AssistantMessage {
  const { model, provider } = author
  return { role: 'assistant', content, stopReason: 'stop', model, provider, usage: emptyUsage(), timestamp: 1, ...changes }
}

/** The author of what a model of this configuration answers. */
export function authorOf({ id: model, provider }: ModelConfig): Pick<AssistantMessage, 'model' | 'provider'> {
  return { model, provider }
}

/** The ids of calls that a model of this configuration issued: they go back as they came, legal or not. */
export function issuedIds({ api, id, provider }: ModelConfig, messages: readonly Message[]): ReadonlySet<string> {
  const own = messages.flatMap((message) =>
    message.role === 'assistant' && message.model === id && message.provider === provider ? message.content : [],
  )
  const calls = own.filter(({ providerState: state }) => state === undefined || (state.api === api && state.model === id))
  return new Set(calls.flatMap((block) => (block.type === 'toolCall' && block.id !== '' ? [block.id] : [])))
}

/** No id was issued. */
export const noIds: ReadonlySet<string> = new Set()

/** A request to `model`, with everything at its default but `changes`. */
export function plainRequest(model: ModelConfig, changes: Partial<StreamRequest> = {}): StreamRequest {
  const messages = [user('Hi')]
  return { model, systemPrompt: '', messages, tools: [], thinking: 'off', cache: { type: 'auto' }, ...changes }
}

/** The body that a provider sends for `request`, parsed, as far as tests read it. */
export async function sentBody<Body = Record<string, unknown>>(provider: StreamProvider, request: StreamRequest): Promise<Body> {
  const { body } = await provider.encode(request)
  return JSON.parse(body)
}

/** What came of one call: the message or the error, and every event. */
export interface Outcome {
  message?: AssistantMessage
  error?: unknown
  events: StreamEvent[]
}

/** Makes one call and never rejects. */
export async function outcomeOf(
  provider: StreamProvider,
  request: StreamRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const events: StreamEvent[] = []
  try {
    const message = await provider.stream(request, (event) => events.push(event), signal)
    return { message, events }
  } catch (error) {
    return { error, events }
  }
}
