import { lateChunk } from '../../base/late/late-chunk.ts'
import { isContextOverflowText } from '../../base/text/overflow-text.ts'
import { maxServerDelayMs, retryDelayMs, startTimer } from '../../base/timer.ts'
import { asProviderError, ConfigError, callbackFailed, errorText, JournalError, ProviderError } from '../../contract/errors.ts'
import { type AssistantMessage, isEmptyAnswer } from '../../contract/message/message.ts'
import { type Usage, usageBeyond } from '../../contract/model/usage.ts'
import { defaultRetry, fullLimits, fullRetry, type RetryConfig } from '../../contract/run/settings.ts'
import { kindOf } from '../../contract/shape/json-fault.ts'
import type { CredentialProvider } from '../../types/model/model.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { ModelAnswer } from '../../types/run/loop-watch.ts'
import { makeRoom } from '../compaction.ts'
import type { LoopState } from '../loop-state.ts'
import { type AssistantEntry, AssistantStream } from './assistant-stream.ts'
import { deriveRequest } from './request.ts'

/** What one turn has tried so far. */
interface Tries {
  /** The retry that would come next, from 1. */
  attempt: number
  retry: RetryConfig
  hasRefreshed: boolean
  hasCompacted: boolean
  hasBeenEmpty: boolean
  /** How often plugins had the request sent again. */
  askedAgain: number
  /** The answer that its service paused, which is continued. */
  paused?: PausedAnswer | undefined
}

/** Half a response, whose usage is charged already, and how often it was continued. Nothing changes the message any more. */
interface PausedAnswer {
  message: AssistantMessage
  times: number
}

/** `charged`: what of the message's usage the run has been charged already. */
export interface ChargedAnswer extends ModelAnswer {
  message: AssistantEntry
  charged?: Usage | undefined
}

/** What follows a failed call: its error as the answer, the same request again, or one of a shorter history. */
type NextTry = 'close' | 'repeat' | 'shorten'

/**
 * Asks the model once per turn, repeating failed calls. The answer is closed, but not yet in the history.
 *
 * **Contract**
 * - Failure and abort come back as `stopReason` `error` or `aborted` with the partial content. Rejects only with `JournalError`, and with
 *   `LoadError` where the history cannot be compacted.
 * - The request is derived once and is the same for every attempt, but for one: when the service says that the prompt is too long, the
 *   history is compacted once and the call repeated, which does not count as a retry. So it is for an answer that filled the context
 *   window; what came of that one goes into the history as a failed message.
 * - A retry before any output is silent but for one `providerRetry` event and one log line; after output, the failed message ends with an
 *   error, goes into the history and a new message begins.
 * - An answer that its service paused is continued by another request, as one message: until it ends, a limit is reached, or it was continued
 *   `maxContinuations` times. A continuation that failed is repeated alone; after output, a new message begins with what was paused.
 * - An answer without content is asked for once more, as a retry. The second one is an answer like any other, with a warning.
 * - A wait that the service asks for and that is too long ends the call instead; the error names the time.
 * - A rejected key is refreshed and the call repeated once, which does not count as a retry.
 *
 * Source: docs/concepts/limits.md
 */
export function callModel(loop: LoopState): Promise<ChargedAnswer> {
  const { turnIndex, watches, turn } = loop
  const work = () => tryModel(loop)
  return watches === undefined ? work() : watches.around({ type: 'modelCall', turnIndex, model: turn.model.config }, work)
}

async function tryModel(loop: LoopState): Promise<ChargedAnswer> {
  let request: StreamRequest | undefined
  const tries: Tries = { attempt: 1, retry: retryOf(loop), hasRefreshed: false, hasCompacted: false, hasBeenEmpty: false, askedAgain: 0 }
  let stream = new AssistantStream(loop)
  for (;;) {
    if (!stream.isOpen) stream = new AssistantStream(loop)
    try {
      loop.stop.throwIfAborted()
      request ??= await prepareRequest(loop, tries.hasCompacted)
      const answer = await streamAnswer(loop, request, stream, tries)
      if (!isFilled(answer.message) || tries.hasCompacted || !(await makeRoom(loop))) return answer
      tries.hasCompacted = true
      await keepFailed(loop, { ...answer.message, stopReason: 'error' }, tries)
      tries.paused = undefined
      request = undefined
    } catch (thrown) {
      // What stopped the run from elsewhere closes the message like any abort.
      if (thrown instanceof JournalError && thrown !== loop.stop.reason) throw thrown
      const error = withinPatience(thrown)
      const next = request === undefined || loop.stop.aborted ? 'close' : await afterFailure(loop, stream, asProviderError(error), tries)
      if (next === 'close') return { ...closedWithError(loop, stream, withTries(error, tries)), charged: tries.paused?.message.usage }
      if (next === 'shorten') request = undefined
    }
  }
}

function retryOf({ config: { retry } }: LoopState): RetryConfig {
  return retry === false ? { ...defaultRetry, maxRetries: 0 } : fullRetry(retry)
}

/** What shows and records the requests of a run that asks for it. */
const capture = lateChunk('the capture of requests', () => import('../capture/capture-request.ts'))

/** What is sent this turn. */
async function prepareRequest(loop: LoopState, afterOverflow: boolean): Promise<StreamRequest> {
  const derived = await deriveRequest(loop)
  if (loop.plugins !== undefined) derived.request = await loop.plugins.request(derived.request)
  if (loop.config.captureTurnRequests) await (capture.loaded ?? (await capture.load())).captureRequest(loop, derived, afterOverflow)
  loop.watches?.request(derived.request)
  return derived.request
}

async function streamAnswer(loop: LoopState, request: StreamRequest, stream: AssistantStream, tries: Tries): Promise<ChargedAnswer> {
  const paused = tries.paused?.message
  if (paused !== undefined) stream.restate(paused)
  let answered = await streamOnce(loop, paused === undefined ? request : continuation(request, paused), stream)
  while (answered.stopReason === 'paused' && mayContinue(loop, answered, tries)) {
    stream.continue()
    answered = await streamOnce(loop, continuation(request, answered), stream)
  }
  if (!stream.hasWords && isEmptyAnswer(answered)) countEmpty(loop, stream, answered, tries)
  const message = stream.finish(answered)
  const charged = tries.paused?.message.usage
  if (message.stopReason !== 'error') return { message, charged }
  return { message, charged, failure: { code: 'api', message: message.errorMessage ?? 'The model stopped with an error.' } }
}

/** One request. */
async function streamOnce(loop: LoopState, request: StreamRequest, stream: AssistantStream): Promise<AssistantMessage> {
  const { provider, credentials } = loop.turn.model
  const { stop } = loop
  const sent = credentials === undefined || stop.aborted ? request : { ...request, credential: await keyOf(loop, credentials) }
  stop.throwIfAborted()
  return stop.race(provider.stream(sent, stream.accept, stop.signal))
}

/** Makes the request for the rest of a response. Each try gets a copy that the codec may change, so a failed one leaves the paused response whole. */
function continuation(request: StreamRequest, answered: AssistantMessage): StreamRequest {
  const continues: AssistantMessage & { id?: string } = structuredClone(answered)
  // It is in no history: what receives it takes it as it is.
  delete continues.id
  return { ...request, messages: [...request.messages, answered], continues }
}

/** Charges what the paused answer has used. Whether it is continued: a limit may be reached by now. */
function mayContinue(loop: LoopState, message: AssistantMessage, tries: Tries): boolean {
  const times = tries.paused?.times ?? 0
  charge(loop, message, tries)
  tries.paused = { message, times: times + 1 }
  return times < continuationsOf(loop) && loop.budget.reached() === undefined
}

/** Charges what `message` has used beyond its paused part, which is charged already. */
function charge(loop: LoopState, message: AssistantMessage | AssistantEntry, { paused }: Tries): void {
  loop.addUsage(paused === undefined ? message.usage : usageBeyond(message.usage, paused.message.usage), message)
}

/** How often a paused answer is continued. */
export function continuationsOf({ config: { limits } }: LoopState): number {
  return limits === false ? Number.POSITIVE_INFINITY : fullLimits(limits).maxContinuations
}

/** Throws for the first answer without content, which is tried again; says so of the next. */
function countEmpty(loop: LoopState, stream: AssistantStream, answered: AssistantMessage, tries: Tries): void {
  const message = `${loop.turn.model.config.id} gave an answer without content.`
  if (tries.hasBeenEmpty || tries.attempt > tries.retry.maxRetries) {
    loop.log.warn('emptyAnswer', { message, stopReason: answered.stopReason })
    return
  }
  tries.hasBeenEmpty = true
  // What was shown counts when it goes into the history.
  if (!stream.hasOutput) charge(loop, answered, tries)
  throw new ProviderError('api', message, { isRetryable: true, partial: answered })
}

/** The key of this call. What a credential provider throws is named, unless it is a failure of a model call, which may be repeated. */
async function keyOf({ stop, log }: LoopState, credentials: CredentialProvider): Promise<string> {
  try {
    const given: unknown = credentials.current(stop.signal)
    const key = typeof given === 'string' ? given : aKey(await stop.race(Promise.resolve(given)))
    log.keys.add(key)
    return key
  } catch (error) {
    if (stop.aborted || ProviderError.isInstance(error)) throw error
    throw callbackFailed('credentials', error)
  }
}

function aKey(given: unknown): string {
  if (typeof given === 'string') return given
  throw new ConfigError('invalidOption', `the credential provider gave ${kindOf(given)} instead of a key`)
}

function closedWithError(loop: LoopState, stream: AssistantStream, thrown: unknown): ModelAnswer {
  const error = asProviderError(thrown)
  const aborted = loop.options.signal.aborted || error.code === 'cancelled'
  if (aborted) return { message: stream.fail('aborted', 'Cancelled', error) }
  return { message: stream.fail('error', loop.log.withoutSecrets(error.message), error), failure: loop.log.failureOf(thrown) }
}

/** An answer that was cut off because it filled the context window, and so is an overflow. */
function isFilled({ stopReason, errorMessage = '' }: AssistantEntry): boolean {
  return stopReason === 'length' && isContextOverflowText(errorMessage)
}

/** What was thrown; a service that asks for a wait which nobody waits for is not asked again, and the error says when it may be. */
function withinPatience(thrown: unknown): unknown {
  if (!ProviderError.isInstance(thrown)) return thrown
  const { isRetryable, retryAfterMs } = thrown
  if (!isRetryable || retryAfterMs === undefined || retryAfterMs <= maxServerDelayMs) return thrown
  const seconds = Math.ceil(retryAfterMs / 1000)
  const at = new Date(Date.now() + retryAfterMs)
  const until = Number.isNaN(at.getTime()) ? '' : `, until ${at.toISOString()}`
  return withWords(thrown, `It asks to wait ${seconds} s${until}; runs wait ${maxServerDelayMs / 1000} s at most. Try again then.`)
}

/** What was thrown; after retries the error says how often the model was asked. */
function withTries(thrown: unknown, { attempt }: Tries): unknown {
  return attempt > 1 && ProviderError.isInstance(thrown) && thrown.code !== 'cancelled'
    ? withWords(thrown, `Tried ${attempt} times.`)
    : thrown
}

/** `error`, which is final, with `words` after its message. */
function withWords(error: ProviderError, words: string): ProviderError {
  const { code, message, retryAfterMs, status, limits, partial } = error
  const known = {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status !== undefined && { status }),
    ...(limits !== undefined && { limits }),
    ...(partial !== undefined && { partial }),
  }
  return new ProviderError(code, `${message.replace(/[^.!?]$/, '$&.')} ${words}`, { isRetryable: false, ...known, cause: error })
}

/**
 * Decides what follows a failed model call, and waits as long as that asks for. An attempt that is repeated is closed here. Rejects only with
 * `JournalError` and `LoadError`.
 */
async function afterFailure(loop: LoopState, stream: AssistantStream, error: ProviderError, tries: Tries): Promise<NextTry> {
  if (error.code === 'cancelled') return 'close'
  const isSilent = !stream.hasOutput
  if (error.code === 'auth' && isSilent && !tries.hasRefreshed && (await refreshCredential(loop))) {
    tries.hasRefreshed = true
    stream.discard()
    return 'repeat'
  }
  if (error.code === 'contextOverflow' && isSilent && !tries.hasCompacted && (await makeRoom(loop))) {
    tries.hasCompacted = true
    stream.discard()
    return 'shorten'
  }
  const maxRetries = Math.min(tries.retry.maxRetries, error.maxRetries ?? Number.POSITIVE_INFINITY)
  if (!error.isRetryable || tries.attempt > maxRetries) return askPlugins(loop, stream, error, tries)
  const delayMs = retryDelayMs(tries.attempt, tries.retry, error.retryAfterMs)
  await announceRetry(loop, stream, error, tries, { attempt: tries.attempt, maxRetries, delayMs })
  await pause(loop, delayMs)
  tries.attempt += 1
  return 'repeat'
}

/** A request that would fail for good is sent again where a plugin says so. */
async function askPlugins(loop: LoopState, stream: AssistantStream, error: ProviderError, tries: Tries): Promise<NextTry> {
  const again = await loop.plugins?.requestFailed(error, tries.askedAgain)
  if (again === undefined) return 'close'
  tries.askedAgain += 1
  await announceRetry(loop, stream, error, tries, { attempt: tries.askedAgain, ...again })
  await pause(loop, again.delayMs)
  return 'repeat'
}

/** Asks for a new key. False when there is no hope of another one. */
async function refreshCredential(loop: LoopState): Promise<boolean> {
  const { credentials } = loop.turn.model
  if (credentials === undefined || 'isStatic' in credentials) return false
  try {
    await loop.stop.race(Promise.resolve(credentials.invalidate()))
  } catch (error) {
    if (loop.stop.aborted) return false
    loop.log.warn('credentialInvalidateFailed', { message: errorText(error) })
  }
  return true
}

/** Closes the failed attempt and says that the call is repeated. Rejects with `JournalError`. */
async function announceRetry(
  loop: LoopState,
  stream: AssistantStream,
  error: ProviderError,
  tries: Tries,
  retry: { attempt: number; maxRetries: number; delayMs: number },
): Promise<void> {
  const afterOutput = stream.hasOutput
  if (afterOutput) await keepFailed(loop, stream.fail('error', loop.log.withoutSecrets(error.message), error), tries)
  else stream.discard()
  const failure = loop.log.failureOf(error)
  loop.log.warn('providerRetry', { ...retry, ...failure })
  loop.events.emit({ type: 'providerRetry', turnIndex: loop.turnIndex, ...retry, error: failure, afterOutput })
}

/** A failed message that was already shown stays in the history; no codec ever sends it. Rejects with `JournalError`. */
async function keepFailed(loop: LoopState, entry: AssistantEntry, tries: Tries): Promise<void> {
  loop.append(entry)
  charge(loop, entry, tries)
  try {
    await loop.record({ type: 'assistant', message: entry })
  } finally {
    loop.events.emit({ type: 'messageEnd', messageId: entry.id, message: entry })
  }
}

/** Waits `ms`, or until the run is stopped. Leaves neither timer nor waiter. */
function pause({ stop }: LoopState, ms: number): Promise<void> {
  return new Promise((resolve) => {
    let stopTimer: (() => void) | undefined
    const leave = stop.wait(() => {
      stopTimer?.()
      resolve()
    })
    stopTimer = startTimer(ms, () => {
      leave()
      resolve()
    })
    if (stop.aborted) stopTimer()
  })
}
