import { readdirSync } from 'node:fs'
import { ProviderError, type ProviderErrorCode } from '../../../src/contract/errors.ts'
import type { AssistantMessage } from '../../../src/contract/message/message.ts'
import type { ProviderOptions } from '../../../src/providers/kit/provider-options.ts'
import { openaiCompatible } from '../../../src/providers/openai.ts'
import type { Model } from '../../../src/types/model/model.ts'
import type { StreamEvent, StreamRequest } from '../../../src/types/model/provider.ts'
import { answering, fixture } from '../bytes.ts'
import { plainRequest, user } from '../model-call.ts'

export const fixtureNames = readdirSync(new URL('../../fixtures/openai/', import.meta.url))
  .filter((name) => name.endsWith('.sse'))
  .map((name) => name.slice(0, -4))

/** The bytes of an answer. */
export function answerOf(name: string): Uint8Array {
  return fixture(`openai/${name}.sse`)
}

/** One chunk with a single choice. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  return { choices: [{ index: 0, delta, finish_reason: finish }], ...more }
}

export function requestFor(model: Model, more: Partial<StreamRequest> = {}): StreamRequest {
  return plainRequest(model.config, { messages: [user('hi')], ...more })
}

/** What a call came to, without what differs from call to call. */
export interface Outcome {
  message?: AssistantMessage
  code?: ProviderErrorCode
  error?: ProviderError
  /** Deltas joined by content index. */
  streamed: string[]
  starts: number
}

export async function play(send: typeof fetch, options: ProviderOptions = {}): Promise<Outcome> {
  const model = openaiCompatible('m', { baseUrl: 'http://127.0.0.1:9', ...options, fetch: send })
  const outcome: Outcome = { streamed: [], starts: 0 }
  const listen = (event: StreamEvent) => {
    if (event.type === 'start') outcome.starts++
    else if ('delta' in event) outcome.streamed[event.contentIndex] = (outcome.streamed[event.contentIndex] ?? '') + event.delta
  }
  try {
    outcome.message = await model.provider.stream(requestFor(model), listen, new AbortController().signal)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    outcome.error = error
    outcome.code = error.code
    if (error.partial !== undefined) outcome.message = error.partial
  }
  if (outcome.message !== undefined) outcome.message.timestamp = 0
  return outcome
}

/** `play` over whole bytes. */
export function playBytes(bytes: Uint8Array, options: ProviderOptions = {}): Promise<Outcome> {
  return play(answering([bytes]), options)
}
