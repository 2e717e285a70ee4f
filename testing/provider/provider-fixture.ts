import { ProviderError, type ProviderErrorCode } from '../../src/contract/errors.ts'
import type { JsonObject } from '../../src/contract/json.ts'
import type { AssistantMessage, StopReason } from '../../src/contract/message/message.ts'
import { userMessage } from '../../src/contract/message/message.ts'
import type { StreamDelta } from '../../src/contract/model/request.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamEvent, StreamRequest } from '../../src/types/model/provider.ts'

/** The expected message for a recorded response. */
export interface FixtureAnswer {
  /** All text blocks, joined. */
  text: string
  /** All thinking blocks, joined. Default: none. */
  thinking?: string
  /** Expected tool calls, in order. An `id` is compared if given. Default: none. */
  toolCalls?: readonly { id?: string; name: string; arguments: JsonObject }[]
  stopReason: StopReason
}

/** One recorded response body with status 200. Keep it small, because the suite cuts it at every byte. */
export interface ProviderFixture {
  name: string
  body: string | Uint8Array
  contentType: string
  /** A text inside the protocol's terminal event. A response that is cut before its end must not count as success. */
  terminal?: string
  /** The expected message, or the error code that the body reports. */
  expect: FixtureAnswer | { errorCode: ProviderErrorCode }
}

/** A call's outcome. `late` is the number of events after the call settled. */
export interface Outcome {
  events: StreamEvent[]
  late: number
  message?: AssistantMessage
  error?: unknown
}

/** A request that any provider can send. */
export async function requestFor(model: Model): Promise<StreamRequest> {
  const request: StreamRequest = {
    model: model.config,
    systemPrompt: 'Be brief.',
    messages: [userMessage('Hello')],
    tools: [{ name: 'read', description: 'Reads a file.', parameters: { type: 'object', properties: { path: { type: 'string' } } } }],
    thinking: 'off',
    cache: { type: 'auto' },
  }
  const credential = await model.credentials?.current(new AbortController().signal)
  return credential === undefined ? request : { ...request, credential }
}

const patienceMs = 60_000

/** Returns the result of `promise`, or an error if it does not settle, so that a hang reports where it occurred. */
async function settled<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: the call never settled`)), patienceMs)
  })
  try {
    return await Promise.race([promise, hang])
  } finally {
    clearTimeout(timer)
  }
}

/** Calls the model once and records the outcome. Rejects only if the call hangs. */
export async function callModel(model: Model, what: string, signal = new AbortController().signal): Promise<Outcome> {
  const outcome: Outcome = { events: [], late: 0 }
  let isSettled = false
  const emit = (event: StreamEvent): void => {
    if (isSettled) outcome.late += 1
    else outcome.events.push(event.type === 'start' ? event : { ...event })
  }
  const request = await requestFor(model)
  const ended = (): void => {
    isSettled = true
  }
  const call = model.provider.stream(request, emit, signal).finally(ended)
  const result = await settled(
    call.then(
      (message) => ({ message }),
      (error: unknown) => ({ error }),
    ),
    what,
  )
  return Object.assign(outcome, result)
}

/** Runs all scheduled tasks, so that late events appear. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}

/** Returns the message from a call that must have succeeded. */
export function messageOf(outcome: Outcome, what: string): AssistantMessage {
  if (outcome.message !== undefined) return outcome.message
  throw new Error(`${what}: should have succeeded`, { cause: outcome.error })
}

/** Returns the error from a call that must have failed as providers must fail. */
export function errorOf(outcome: Outcome, what: string): ProviderError {
  const { error } = outcome
  if (outcome.message !== undefined) throw new Error(`${what}: succeeded with stop reason ${outcome.message.stopReason}`)
  if (ProviderError.isInstance(error)) return error
  throw new Error(`${what}: rejected with something else than a ProviderError`, { cause: error })
}

/** Returns the deltas joined by block, which must not depend on how the bytes arrive. */
export function joinedDeltas(events: readonly StreamEvent[]): Map<number, { type: StreamDelta['type']; text: string }> {
  const blocks = new Map<number, { type: StreamDelta['type']; text: string }>()
  for (const event of events) {
    if (event.type === 'start' || !('delta' in event)) continue
    const block = blocks.get(event.contentIndex)
    if (block === undefined) blocks.set(event.contentIndex, { type: event.type, text: event.delta })
    else block.text += event.delta
  }
  return blocks
}
