import { raceAbort } from '../../base/abort.ts'
import { errorText, ProviderError } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import { type AssistantMessage, now } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { combineUsage, contextTokensOf, emptyUsage } from '../../contract/model/usage.ts'
import { shown } from '../../contract/shape/json-fault.ts'
import type { EncodedRequest, StreamEvent, StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import { perObject } from '../kit/encode/json-pieces.ts'
import { type NormaliseTarget, normalise } from '../kit/history/normalise.ts'
import { type MediaTarget, withReadyMedia } from '../kit/optional/media/late-media.ts'
import { checkedPace, completeUsage, type Pace, Player } from './player.ts'
import type { Script, ScriptedFailure, ScriptedStep } from './script.ts'

/**
 * Provider that plays a script in this process, on any runtime.
 *
 * **Contract**
 * - The script receives the history that a real provider would receive: no failed responses, one result for every call.
 * - Streams like a real provider: `start`, then deltas, with tool arguments in fragments. The same rules apply to errors and aborts.
 * - Checks for aborts at every wait and after every delta, and rejects with `ProviderError` `cancelled`.
 * - An error thrown by a script function becomes a `ProviderError` `other`, unless it already is a `ProviderError`.
 *
 * Source: docs/guides/testing.md
 */
export class ScriptedProvider implements StreamProvider {
  readonly api = 'scripted'
  readonly #script: Script
  readonly #pace: Pace
  readonly #requests: StreamRequest[] = []

  constructor(script: Script, pace: Pace) {
    this.#script = script
    this.#pace = pace
  }

  /** Requests so far, in order, with the messages that a real provider would have received. */
  get requests(): readonly StreamRequest[] {
    return this.#requests
  }

  /** Returns the request as JSON in `body`, without sending it. `url` is `scripted:`. */
  async encode(request: StreamRequest): Promise<EncodedRequest> {
    const { credential: _unused, continues: _last, resolveMedia: _read, ...visible } = sent(await withReadyMedia(request, everyMedium))
    return { url: 'scripted:', headers: {}, redactedHeaders: {}, body: JSON.stringify(visible), warnings: [] }
  }

  async stream(request: StreamRequest, emit: (event: StreamEvent) => void, signal: AbortSignal): Promise<AssistantMessage> {
    let message: AssistantMessage | undefined
    try {
      const seen = sent(await raceAbort(withReadyMedia(request, everyMedium), signal))
      const turn = this.#requests.push(seen) - 1
      signal.throwIfAborted()
      const step = await this.#step(seen, turn, signal)
      if (step.fail !== undefined && step.fail.afterText !== true) throw failure(step.fail)
      message = request.continues ?? blankMessage(request)
      emit({ type: 'start', message })
      signal.throwIfAborted()
      await this.#play(step, message, emit, signal, request)
      return message
    } catch (error) {
      throw asProviderError(error, message, signal)
    }
  }

  async #step(request: StreamRequest, turn: number, signal: AbortSignal): Promise<ScriptedStep> {
    if (typeof this.#script !== 'function') return this.#script[turn] ?? ranOut(this.#script.length, turn)
    const step = await raceAbort(this.#script(request, turn), signal)
    if (isObject(step)) return step
    throw new TypeError(
      `it returned ${shown(step, 'answer')} for model call ${turn + 1}. It must return a response, such as { text: 'hi' }.`,
    )
  }

  async #play(
    step: ScriptedStep,
    message: AssistantMessage,
    emit: (event: StreamEvent) => void,
    signal: AbortSignal,
    request: StreamRequest,
  ): Promise<void> {
    const { delayMs, chunkSize } = this.#pace
    const pace = checkedPace({ ...this.#pace, delayMs: step.delayMs ?? delayMs, chunkSize: step.chunkSize ?? chunkSize })
    const before = message.usage
    const isContinued = request.continues !== undefined
    const firstCall = countCalls(request)
    const player = new Player(message, emit, signal, pace)
    await player.prose(step)
    if (step.fail !== undefined) throw failure(step.fail, message)
    for (const block of step.blocks ?? []) await player.whole(block)
    const calls = step.toolCalls ?? []
    for (const [index, call] of calls.entries()) await player.toolCall(call, call.id ?? `mock-tool-${firstCall + index}`)
    message.stopReason = step.stopReason ?? (calls.length > 0 ? 'toolUse' : 'stop')
    const usage = completeUsage(step.usage)
    message.usage = isContinued ? { ...combineUsage(before, usage), contextTokens: contextTokensOf(usage) } : usage
  }
}

/** Accepts all media. Loads a session's blobs. */
const rules = { media: ['*/*'], mediaByUrl: ['*/*'], mediaById: ['*/*'] }
const everyMedium: MediaTarget = { api: 'scripted', codec: { media: () => rules } }

const targets = perObject(
  ({ api, provider, id }: ModelConfig): NormaliseTarget => ({
    ...{ api, provider, model: id, media: rules },
    toolCallId: (callId) => callId,
    keepsThinking: () => true,
    pauses: true,
  }),
)

/** Returns the request as a codec would send it. */
function sent(request: StreamRequest): StreamRequest {
  return { ...request, messages: normalise(request.messages, targets(request.model)) }
}

function blankMessage(request: StreamRequest): AssistantMessage {
  const { id, provider } = request.model
  return { role: 'assistant', content: [], stopReason: 'stop', model: id, provider, usage: emptyUsage(), timestamp: now() }
}

/** Counts the calls in the history, so that default ids continue and stay unique. */
function countCalls(request: StreamRequest): number {
  let count = 0
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue
    for (const block of message.content) if (block.type === 'toolCall') count += 1
  }
  return count
}

/** Throws at the end of the script, because an invented response could hide a failing test. */
function ranOut(length: number, turn: number): never {
  const responses = `${length} ${length === 1 ? 'response' : 'responses'}`
  const message = `The script has run out: this is model call ${turn + 1}, but the list has ${responses}. Add a response, or pass a function.`
  throw new ProviderError('other', message)
}

function failure(fail: ScriptedFailure, partial?: AssistantMessage): ProviderError {
  const { code, message, status, retryAfterMs } = fail
  return new ProviderError(code, message, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(partial === undefined ? {} : { partial }),
  })
}

function asProviderError(error: unknown, partial: AssistantMessage | undefined, signal: AbortSignal): ProviderError {
  const options = partial === undefined ? {} : { partial }
  if (signal.aborted) return new ProviderError('cancelled', 'The model call was aborted.', options)
  if (error instanceof ProviderError) return error
  return new ProviderError('other', `The script failed: ${errorText(error)}`, { ...options, cause: error })
}
