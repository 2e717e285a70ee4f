import type { Content } from '../../../src/contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import { type OpenAiResponsesOptions, openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import type { Model } from '../../../src/types/model/model.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answerBy, type Outcome, outcomeOf, plainRequest, sentBody } from '../model-call.ts'
import type { InputItem } from './grammar.ts'

export { type Outcome, result, user } from '../model-call.ts'

/** A key that must appear nowhere but in the request. */
export const canary = 'sk-proj-canary-0123456789'

/** An answer of `gpt-test`. */
export function answer(content: Content[], changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return answerBy({ model: 'gpt-test', provider: 'openai' }, content, changes)
}

/** A request to `model` with everything else at its default. */
export function request(model: Model, changes: Partial<StreamRequest> = {}): StreamRequest {
  return plainRequest(model.config, { credential: canary, ...changes })
}

/** One call of `model`. */
export async function called(model: Model, changes: Partial<StreamRequest> = {}, signal = new AbortController().signal): Promise<Outcome> {
  return await outcomeOf(model.provider, request(model, changes), signal)
}

/** One call of `gpt-test` through an injected fetch. */
export function streamed(fetch: typeof globalThis.fetch, options: OpenAiResponsesOptions = {}): Promise<Outcome> {
  return called(openaiResponses('gpt-test', { ...options, fetch }))
}

/** The body that is sent, parsed. */
export function bodyFor(model: Model, changes: Partial<StreamRequest> = {}): Promise<Record<string, unknown>> {
  return sentBody(model.provider, request(model, changes))
}

/** The input items that `messages` become. */
export async function inputFor(messages: readonly Message[], model: Model = openaiResponses('gpt-test')): Promise<InputItem[]> {
  const { input } = await bodyFor(model, { messages })
  // Checked by the grammar test.
  return input as InputItem[]
}
