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

/** The turn's attempts so far. */
interface Tries {
  /** Number of the next retry, starting at 1. */
  attempt: number
  retry: RetryConfig
  hasRefreshed: boolean
  hasCompacted: boolean
  hasBeenEmpty: boolean
  /** Number of retries that plugins requested. */
  askedAgain: number
  /** The paused response to continue. */
  paused?: PausedAnswer | undefined
}

/** A paused response with its charged usage and number of continuations. The message is frozen. */
interface PausedAnswer {
  message: AssistantMessage
  times: number
}

/** `charged` is the part of the message's usage that is already charged to the run. */
export interface ChargedAnswer extends ModelAnswer {
  message: AssistantEntry
  charged?: Usage | undefined
}

/** What to do after a failed call: return the error, retry, or retry with a shorter history. */
type NextTry = 'close' | 'repeat' | 'shorten'

/**
 * Calls the model for one turn, with retries. Closes the response, but does not add it to the history.
 *
 * **Contract**
 * - After a failure or abort, returns the partial content with `stopReason` `error` or `aborted`. Rejects only with `JournalError`, and
 *   with `LoadError` if compaction cannot be loaded.
 * - All attempts reuse one request. Compacts the history once and sends a new request if the prompt is too long or the response fills the
 *   context window. This does not count as a retry. Adds a partial response to the history as a failed message.
 * - A retry before any output emits one `providerRetry` and logs one line. After output, ends the failed message with an error, adds it to
 *   the history, and starts a new message.
 * - Continues a paused response as one message until it ends, a limit is reached, or `maxContinuations` requests were sent. Retries only
 *   the continuation if it fails. If the failed continuation produced output, the retry starts a new message with the paused content.
 * - Retries an empty response once. Accepts a second empty response and logs a warning.
 * - If the provider requests too long a delay, returns an error that contains the delay.
 * - If the provider rejects the key, requests a new key and calls the model once more. This does not count as a retry.
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
      // Any other stop reason closes the message like an abort.
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

/** Lazily loaded chunk for runs that capture requests. */
const capture = lateChunk('the capture of requests', () => import('../capture/capture-request.ts'))

/** Returns this turn's request. */
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

/** Sends one request. */
async function streamOnce(loop: LoopState, request: StreamRequest, stream: AssistantStream): Promise<AssistantMessage> {
  const { provider, credentials } = loop.turn.model
  const { stop } = loop
  const sent = credentials === undefined || stop.aborted ? request : { ...request, credential: await keyOf(loop, credentials) }
  stop.throwIfAborted()
  return stop.race(provider.stream(sent, stream.accept, stop.signal))
}

/** Creates the request for the rest of a response. Copies the paused response, so that a failed attempt cannot change it. */
function continuation(request: StreamRequest, answered: AssistantMessage): StreamRequest {
  const continues: AssistantMessage & { id?: string } = structuredClone(answered)
  // The message is not in a history, so the receiver may adopt it.
  delete continues.id
  return { ...request, messages: [...request.messages, answered], continues }
}

/** Charges a paused response. Returns whether to continue it: `false` if a limit was reached. */
function mayContinue(loop: LoopState, message: AssistantMessage, tries: Tries): boolean {
  const times = tries.paused?.times ?? 0
  charge(loop, message, tries)
  tries.paused = { message, times: times + 1 }
  return times < continuationsOf(loop) && loop.budget.reached() === undefined
}

/** Charges the usage of `message` beyond its paused part. */
function charge(loop: LoopState, message: AssistantMessage | AssistantEntry, { paused }: Tries): void {
  loop.addUsage(paused === undefined ? message.usage : usageBeyond(message.usage, paused.message.usage), message)
}

/** Returns the maximum continuations of a paused response. */
export function continuationsOf({ config: { limits } }: LoopState): number {
  return limits === false ? Number.POSITIVE_INFINITY : fullLimits(limits).maxContinuations
}

/** Throws for the first empty response, which causes a retry. Warns about the next empty response. */
function countEmpty(loop: LoopState, stream: AssistantStream, answered: AssistantMessage, tries: Tries): void {
  const message = `${loop.turn.model.config.id} returned a response without content.`
  if (tries.hasBeenEmpty || tries.attempt > tries.retry.maxRetries) {
    loop.log.warn('emptyAnswer', { message, stopReason: answered.stopReason })
    return
  }
  tries.hasBeenEmpty = true
  // Output that was emitted is charged when the message enters the history.
  if (!stream.hasOutput) charge(loop, answered, tries)
  throw new ProviderError('api', message, { isRetryable: true, partial: answered })
}

/** Returns this call's key. Wraps errors from a credential provider, except retryable model call failures. */
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
  throw new ConfigError('invalidOption', `The credential provider returned ${kindOf(given)} instead of a key.`)
}

function closedWithError(loop: LoopState, stream: AssistantStream, thrown: unknown): ModelAnswer {
  const error = asProviderError(thrown)
  const aborted = loop.options.signal.aborted || error.code === 'cancelled'
  if (aborted) return { message: stream.fail('aborted', 'Cancelled', error) }
  return { message: stream.fail('error', loop.log.withoutSecrets(error.message), error), failure: loop.log.failureOf(thrown) }
}

/** Returns whether a response was truncated because it filled the context window, which counts as an overflow. */
function isFilled({ stopReason, errorMessage = '' }: AssistantEntry): boolean {
  return stopReason === 'length' && isContextOverflowText(errorMessage)
}

/** Returns the error. If the requested delay is too long, returns a final error that states the delay. */
function withinPatience(thrown: unknown): unknown {
  if (!ProviderError.isInstance(thrown)) return thrown
  const { isRetryable, retryAfterMs } = thrown
  if (!isRetryable || retryAfterMs === undefined || retryAfterMs <= maxServerDelayMs) return thrown
  const seconds = Math.ceil(retryAfterMs / 1000)
  const at = new Date(Date.now() + retryAfterMs)
  const until = Number.isNaN(at.getTime()) ? '' : `, until ${at.toISOString()}`
  return withWords(
    thrown,
    `The provider asks to wait ${seconds} s${until}, but a run waits at most ${maxServerDelayMs / 1000} s. Retry after that time.`,
  )
}

/** Returns the error. After retries, adds the number of attempts. */
function withTries(thrown: unknown, { attempt }: Tries): unknown {
  return attempt > 1 && ProviderError.isInstance(thrown) && thrown.code !== 'cancelled'
    ? withWords(thrown, `Tried ${attempt} times.`)
    : thrown
}

/** Returns `error` as final, with `words` appended to its message. */
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
 * Decides what to do after a failed model call, and waits for the backoff. Closes the attempt before a retry. Rejects only with
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

/** Lets plugins decide whether to retry a request that failed after all retries. */
async function askPlugins(loop: LoopState, stream: AssistantStream, error: ProviderError, tries: Tries): Promise<NextTry> {
  const again = await loop.plugins?.requestFailed(error, tries.askedAgain)
  if (again === undefined) return 'close'
  tries.askedAgain += 1
  await announceRetry(loop, stream, error, tries, { attempt: tries.askedAgain, ...again })
  await pause(loop, again.delayMs)
  return 'repeat'
}

/** Refreshes the key. Returns `false` if the credentials cannot be refreshed. */
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

/** Closes the failed attempt and emits the retry. Rejects with `JournalError`. */
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

/** Adds a failed message with emitted output to the history. Codecs never send it. Rejects with `JournalError`. */
async function keepFailed(loop: LoopState, entry: AssistantEntry, tries: Tries): Promise<void> {
  loop.append(entry)
  charge(loop, entry, tries)
  try {
    await loop.record({ type: 'assistant', message: entry })
  } finally {
    loop.events.emit({ type: 'messageEnd', messageId: entry.id, message: entry })
  }
}

/** Waits `ms`, or until the run is stopped. Then removes its timer and listener. */
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
