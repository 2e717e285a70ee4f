import { ProviderError, type ProviderErrorCode } from '../../src/contract/errors.ts'
import type { JsonObject } from '../../src/contract/json.ts'
import type { AssistantMessage, StopReason } from '../../src/contract/message/message.ts'
import { userMessage } from '../../src/contract/message/message.ts'
import type { StreamDelta } from '../../src/contract/model/request.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamEvent, StreamRequest } from '../../src/types/model/provider.ts'

/** The expected message of a recorded response. */
export interface FixtureAnswer {
  /** All text blocks, joined. */
  text: string
  /** All thinking blocks, joined. Default: none. */
  thinking?: string
  /** In order. An `id` is compared if given. Default: none. */
  toolCalls?: readonly { id?: string; name: string; arguments: JsonObject }[]
  stopReason: StopReason
}

/** The recorded body of one response with status 200. Small ones make a fast suite: it is cut at every byte. */
export interface ProviderFixture {
  name: string
  body: string | Uint8Array
  contentType: string
  /** A text inside the protocol's terminal event: a response cut before its end must not count as success. */
  terminal?: string
  /** The expected message, or the code of the error that the body reports. */
  expect: FixtureAnswer | { errorCode: ProviderErrorCode }
}

/** Outcome of one call. `late` counts events after it settled. */
export interface Outcome {
  events: StreamEvent[]
  late: number
  message?: AssistantMessage
  error?: unknown
}

/** A request any provider can send. */
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

/** `promise`, or an error when it does not settle: a hang should say where. */
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

/** Calls the model once and keeps all it did. Never rejects, except when the call hangs. */
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

/** Runs everything already scheduled, so that late events appear. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}

/** Returns the message of a call that must have succeeded. */
export function messageOf(outcome: Outcome, what: string): AssistantMessage {
  if (outcome.message !== undefined) return outcome.message
  throw new Error(`${what}: should have succeeded`, { cause: outcome.error })
}

/** The error of a call that should have failed, as a provider must. */
export function errorOf(outcome: Outcome, what: string): ProviderError {
  const { error } = outcome
  if (outcome.message !== undefined) throw new Error(`${what}: succeeded with stop reason ${outcome.message.stopReason}`)
  if (ProviderError.isInstance(error)) return error
  throw new Error(`${what}: rejected with something else than a ProviderError`, { cause: error })
}

/** Deltas joined by block: what should be the same however the bytes arrive. */
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
