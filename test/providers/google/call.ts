import { type GoogleOptions, google } from '../../../src/providers/google/index.ts'
import type { Content } from '../../../src/types/content.ts'
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from '../../../src/types/message.ts'
import type { StreamEvent, StreamRequest } from '../../../src/types/provider.ts'
import { emptyUsage } from '../../../src/types/usage.ts'

/** A key that must appear nowhere but in the request. */
export const canary = 'AIza-canary-0123456789'

/** A model of the generation that takes ids and signatures, and one of the generation before. */
export const modern = 'gemini-3.5-flash'
export const old = 'gemini-2.5-flash'

export function user(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: 1 }
}

export function answer(content: Content[], changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: 'assistant',
    content,
    stopReason: 'stop',
    model: modern,
    provider: 'google',
    usage: emptyUsage(),
    timestamp: 1,
    ...changes,
  }
}

export function call(id: string, args = {}): Content & { type: 'toolCall' } {
  return { type: 'toolCall', id, name: 'read', arguments: args }
}

/** `block` as `model` signed it. */
export function signed<Block extends Content>(block: Block, thoughtSignature: string, model = modern): Block {
  return { ...block, providerState: { api: 'googleGenerativeAi', model, payload: { thoughtSignature } } }
}

export function result(toolCallId: string, content: Content[] = [{ type: 'text', text: 'ok' }], isError = false): ToolResultMessage {
  return { role: 'toolResult', toolCallId, toolName: 'read', content, isError, timestamp: 1 }
}

/** A request for `id` with everything else at its default. */
export function request(id: string, changes: Partial<StreamRequest> = {}, options: GoogleOptions = {}): StreamRequest {
  return {
    model: google(id, options).config,
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
export async function streamed(fetch: typeof globalThis.fetch, made: StreamRequest = request(modern)): Promise<Outcome> {
  const { provider } = google(made.model.id, { fetch })
  const events: StreamEvent[] = []
  try {
    const message = await provider.stream(made, (event) => events.push(event), new AbortController().signal)
    return { message, events }
  } catch (error) {
    return { error, events }
  }
}

/** One content of a request. */
export interface WireContent {
  role: string
  parts: Record<string, unknown>[]
}

/** The body of a request, as far as tests read it. */
export interface WireBody {
  contents: WireContent[]
  systemInstruction?: unknown
  tools?: unknown
  toolConfig?: unknown
  generationConfig: Record<string, unknown>
}

/** The body that is sent for `request`, parsed. */
export async function bodyFor(made: StreamRequest): Promise<WireBody> {
  const { body } = await google(made.model.id).provider.encode(made)
  return JSON.parse(body)
}

/** The contents that `messages` become. */
export async function contentsOf(id: string, messages: readonly Message[]): Promise<WireContent[]> {
  return (await bodyFor(request(id, { messages }))).contents
}
