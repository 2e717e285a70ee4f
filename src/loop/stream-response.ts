import { errorText, failureOf, type ProviderError } from '../types/errors.ts'
import type { StreamRequest } from '../types/provider.ts'
import { defaultRetry, type RetryConfig } from '../types/settings.ts'
import { raceAbort, sleep } from './abort.ts'
import { type AssistantEntry, AssistantStream } from './assistant-stream.ts'
import { deriveRequest } from './derive-request.ts'
import { recoverFromOverflow } from './keep-within-context.ts'
import type { LoopRun } from './loop-run.ts'
import { asProviderError, retryDelayMs } from './retry.ts'

/**
 * Asks the model once per turn, repeating failed calls, and returns the message, closed but not yet in the history.
 *
 * **Contract**
 * - Failure and abort come back as `stopReason` `error` or `aborted` with the partial content. Rejects only with `JournalError`.
 * - The request is derived once and is the same for every attempt, but for one: when the service says that the prompt is too long, the
 *   history is compacted once and the call repeated, which does not count as a retry.
 * - A retry before any output is silent but for one `providerRetry` event and one log line; after output, the failed message ends with an
 *   error, goes into the history and a new message begins.
 * - A rejected key is refreshed and the call repeated once, which does not count as a retry.
 *
 * Source: spec/08, reference/phi-core-0.10.md §3 rows 4, 11–13, 40–42.
 */
export async function streamResponse(run: LoopRun): Promise<AssistantEntry> {
  let request: StreamRequest
  try {
    request = await prepare(run, false)
  } catch (error) {
    return closedWithError(run, new AssistantStream(run), error)
  }
  const retry = { ...defaultRetry, ...run.config.retry }
  let refreshed = false
  let compacted = false
  for (let attempt = 1; ; ) {
    const stream = new AssistantStream(run)
    try {
      return await callModel(run, request, stream)
    } catch (thrown) {
      const error = asProviderError(thrown)
      if (run.signal.aborted || error.code === 'cancelled') return closedWithError(run, stream, thrown)
      if (error.code === 'auth' && !refreshed && !stream.hasOutput && (await refreshCredential(run))) {
        refreshed = true
        stream.discard()
        continue
      }
      if (error.code === 'contextOverflow' && !compacted && !stream.hasOutput && (await recoverFromOverflow(run))) {
        compacted = true
        try {
          request = await prepare(run, true)
        } catch (failed) {
          return closedWithError(run, stream, failed)
        }
        stream.discard()
        continue
      }
      if (!error.isRetryable || attempt > retry.maxRetries) return closedWithError(run, stream, thrown)
      await announceRetry(run, stream, error, attempt, retry)
      attempt += 1
    }
    if (run.signal.aborted) return closedWithError(run, new AssistantStream(run), run.signal.reason)
  }
}

/** What is sent this turn, reported where that is asked for. */
async function prepare(run: LoopRun, afterOverflow: boolean): Promise<StreamRequest> {
  const { request, entries } = await deriveRequest(run)
  if (run.config.captureTurnRequests) {
    const { captureRequest } = await import('./capture-request.ts')
    await captureRequest(run, entries, request, afterOverflow)
  }
  return request
}

async function callModel(run: LoopRun, request: StreamRequest, stream: AssistantStream): Promise<AssistantEntry> {
  const { provider, credentials } = run.config.model
  const { signal } = run
  let sent = request
  if (credentials !== undefined && !signal.aborted) {
    sent = { ...request, credential: await raceAbort(credentials.current(signal), signal) }
  }
  if (signal.aborted) throw signal.reason
  const message = stream.finish(await raceAbort(provider.stream(sent, stream.accept, signal), signal))
  if (message.stopReason === 'error') {
    run.modelFailure = { code: 'api', message: message.errorMessage ?? 'The model stopped with an error.' }
  }
  return message
}

/** Asks for a new key. False when there is no hope of another one. */
async function refreshCredential(run: LoopRun): Promise<boolean> {
  const { credentials } = run.config.model
  if (credentials === undefined || 'isStatic' in credentials) return false
  try {
    await raceAbort(credentials.invalidate(), run.signal)
  } catch (error) {
    if (run.signal.aborted) return false
    run.warn('credentialInvalidateFailed', { message: errorText(error) })
  }
  return true
}

/** Says that the call is repeated and waits; an abort ends the wait at once. */
async function announceRetry(run: LoopRun, stream: AssistantStream, error: ProviderError, attempt: number, retry: RetryConfig) {
  const { maxRetries } = retry
  const delayMs = retryDelayMs(attempt, retry, error.retryAfterMs)
  const afterOutput = stream.hasOutput
  if (afterOutput) await keepFailed(run, stream.fail('error', error.message, error))
  else stream.discard()
  const failure = failureOf(error)
  run.warn('providerRetry', { attempt, maxRetries, delayMs, ...failure })
  run.events.emit({ type: 'providerRetry', turnIndex: run.turnIndex, attempt, maxRetries, delayMs, error: failure, afterOutput })
  await sleep(delayMs, run.signal).catch(() => undefined)
}

/** A failed message that was already shown stays in the history; no codec ever sends it. Rejects with `JournalError`. */
async function keepFailed(run: LoopRun, entry: AssistantEntry): Promise<void> {
  run.append(entry)
  run.addUsage(entry.usage)
  try {
    await run.record({ type: 'assistant', message: entry })
  } finally {
    run.events.emit({ type: 'messageEnd', messageId: entry.id, message: entry })
  }
}

function closedWithError(run: LoopRun, stream: AssistantStream, thrown: unknown): AssistantEntry {
  const error = asProviderError(thrown)
  const aborted = run.options.signal.aborted || error.code === 'cancelled'
  if (aborted) return stream.fail('aborted', 'Cancelled', error)
  run.modelFailure = failureOf(thrown)
  return stream.fail('error', error.message, error)
}
