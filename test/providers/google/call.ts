import type { Content } from '../../../src/contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import { type GoogleOptions, google } from '../../../src/providers/google/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answerBy, type Outcome, outcomeOf, plainRequest, sentBody } from '../model-call.ts'

export { type Outcome, result, user } from '../model-call.ts'

/** A key that must appear nowhere but in the request. */
export const canary = 'AIza-canary-0123456789'

/** A model of the generation that takes ids and signatures, and one of the generation before. */
export const modern = 'gemini-3.5-flash'
export const old = 'gemini-2.5-flash'

export function answer(content: Content[], changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return answerBy({ model: modern, provider: 'google' }, content, changes)
}

export function call(id: string, args = {}): Content & { type: 'toolCall' } {
  return { type: 'toolCall', id, name: 'read', arguments: args }
}

/** `block` as `model` signed it. */
export function signed<Block extends Content>(block: Block, thoughtSignature: string, model = modern): Block {
  return { ...block, providerState: { api: 'googleGenerativeAi', model, payload: { thoughtSignature } } }
}

/** A request for `id` with everything else at its default. */
export function request(id: string, changes: Partial<StreamRequest> = {}, options: GoogleOptions = {}): StreamRequest {
  return plainRequest(google(id, options).config, { credential: canary, systemPrompt: 'Be brief.', ...changes })
}

/** One call through an injected fetch. */
export async function streamed(fetch: typeof globalThis.fetch, made: StreamRequest = request(modern)): Promise<Outcome> {
  const { provider } = google(made.model.id, { fetch })
  return await outcomeOf(provider, made)
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
export function bodyFor(made: StreamRequest, options: GoogleOptions = {}): Promise<WireBody> {
  return sentBody(google(made.model.id, options).provider, made)
}

/** The contents that `messages` become. */
export async function contentsOf(id: string, messages: readonly Message[], options: GoogleOptions = {}): Promise<WireContent[]> {
  return (await bodyFor(request(id, { messages }, options), options)).contents
}
