import { readdirSync, readFileSync } from 'node:fs'
import { openaiCompatible } from '../../../src/providers/openai/index.ts'
import type { ProviderOptions } from '../../../src/providers/shared/provider-options.ts'
import { ProviderError, type ProviderErrorCode } from '../../../src/types/errors.ts'
import { type AssistantMessage, type Message, userMessage } from '../../../src/types/message.ts'
import type { Model } from '../../../src/types/model.ts'
import type { StreamEvent, StreamRequest } from '../../../src/types/provider.ts'

const folder = new URL('../../fixtures/openai/', import.meta.url)

export const fixtureNames = readdirSync(folder)
  .filter((name) => name.endsWith('.sse'))
  .map((name) => name.slice(0, -4))

export function fixture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.sse`, folder)))
}

/** Frames of an event stream, one per value; strings are sent as they are. */
export function sse(...values: readonly unknown[]): Uint8Array {
  const frames = values.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
  return new TextEncoder().encode(frames.join(''))
}

/** One chunk with a single choice. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  return { choices: [{ index: 0, delta, finish_reason: finish }], ...more }
}

/** A fetch that answers every call with these pieces. */
export function fetchOf(...pieces: readonly Uint8Array[]): typeof fetch {
  return async () => {
    let next = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[next++]
        if (piece === undefined) controller.close()
        else controller.enqueue(piece)
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}

export function requestFor(model: Model, more: Partial<StreamRequest> = {}): StreamRequest {
  const messages: Message[] = [userMessage('hi')]
  return { model: model.config, systemPrompt: '', messages, tools: [], thinkingLevel: 'off', cache: { type: 'auto' }, ...more }
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
    else outcome.streamed[event.contentIndex] = (outcome.streamed[event.contentIndex] ?? '') + event.delta
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
  return play(fetchOf(bytes), options)
}
