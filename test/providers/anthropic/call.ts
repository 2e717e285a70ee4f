import type { Content } from '../../../src/contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import { type AnthropicOptions, anthropic } from '../../../src/providers/anthropic/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answerBy, type Outcome, outcomeOf, plainRequest, sentBody } from '../model-call.ts'

export { type Outcome, result, user } from '../model-call.ts'

/** A key that must appear nowhere but in the request. */
export const canary = 'sk-ant-canary-0123456789'

export function answer(content: Content[], changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return answerBy({ model: 'claude-test', provider: 'anthropic' }, content, changes)
}

export function call(id: string, args = {}): Content {
  return { type: 'toolCall', id, name: 'read', arguments: args }
}

/** A request for `id` with everything else at its default. */
export function request(id: string, changes: Partial<StreamRequest> = {}, options: AnthropicOptions = {}): StreamRequest {
  return plainRequest(anthropic(id, options).config, { credential: canary, systemPrompt: 'Be brief.', ...changes })
}

/** One call through an injected fetch. */
export async function streamed(
  fetch: typeof globalThis.fetch,
  options: AnthropicOptions = {},
  signal: AbortSignal = new AbortController().signal,
  id = 'claude-test',
): Promise<Outcome> {
  const { provider } = anthropic(id, { ...options, fetch })
  return await outcomeOf(provider, request(id), signal)
}

/** The body that is sent for `request`, parsed. */
export function bodyFor(made: StreamRequest, options: AnthropicOptions = {}): Promise<Record<string, unknown>> {
  return sentBody(anthropic(made.model.id, options).provider, made)
}

/** The messages of a body, as far as tests read them. */
export type WireMessages = { role: string; content: Record<string, unknown>[] }[]

/** The wire messages that `messages` become. */
export async function wireMessages(messages: readonly Message[], changes: Partial<StreamRequest> = {}): Promise<WireMessages> {
  const body = await bodyFor(request('claude-test', { messages, cache: { type: 'disabled' }, ...changes }))
  // Checked by the grammar test.
  return body.messages as WireMessages
}
