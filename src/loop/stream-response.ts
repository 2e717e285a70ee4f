import { raceAbort } from '../base/abort.ts'
import { errorText, failureOf, JournalError, ProviderError } from '../types/errors.ts'
import type { StreamRequest } from '../types/provider.ts'
import { defaultRetry } from '../types/settings.ts'
import type { NextTry, Tries } from './after-failure.ts'
import { type AssistantEntry, AssistantStream } from './assistant-stream.ts'
import { deriveRequest } from './derive-request.ts'
import type { LoopRun } from './loop-run.ts'

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
  let request: StreamRequest | undefined
  const retry = { ...defaultRetry, ...run.config.retry }
  const tries: Tries = { attempt: 1, retry, hasRefreshed: false, hasCompacted: false }
  for (;;) {
    const stream = new AssistantStream(run)
    try {
      if (run.signal.aborted) throw run.signal.reason
      request ??= await prepare(run, tries.hasCompacted)
      return await callModel(run, request, stream)
    } catch (thrown) {
      if (thrown instanceof JournalError) throw thrown
      const next = request === undefined || run.signal.aborted ? 'close' : await afterFailure(run, stream, asProviderError(thrown), tries)
      if (next === 'close') return closedWithError(run, stream, thrown)
      if (next === 'shorten') request = undefined
    }
  }
}

/** Loaded while the first call is under way: when that fails, the network may be what has failed. */
let repeating: Promise<typeof import('./after-failure.ts')> | undefined

async function afterFailure(run: LoopRun, stream: AssistantStream, error: ProviderError, tries: Tries): Promise<NextTry> {
  const loaded = await loadRepeating().catch(() => undefined)
  return loaded === undefined ? 'close' : loaded.afterFailure(run, stream, error, tries)
}

function loadRepeating(): Promise<typeof import('./after-failure.ts')> {
  repeating ??= import('./after-failure.ts')
  repeating.catch(() => {
    repeating = undefined
  })
  return repeating
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
  void loadRepeating()
  const message = stream.finish(await raceAbort(provider.stream(sent, stream.accept, signal), signal))
  if (message.stopReason === 'error') {
    run.modelFailure = { code: 'api', message: message.errorMessage ?? 'The model stopped with an error.' }
  }
  return message
}

function closedWithError(run: LoopRun, stream: AssistantStream, thrown: unknown): AssistantEntry {
  const error = asProviderError(thrown)
  const aborted = run.options.signal.aborted || error.code === 'cancelled'
  if (aborted) return stream.fail('aborted', 'Cancelled', error)
  run.modelFailure = failureOf(thrown)
  return stream.fail('error', error.message, error)
}

/** Anything a provider threw, as a `ProviderError`. */
function asProviderError(error: unknown): ProviderError {
  return ProviderError.isInstance(error) ? error : new ProviderError('other', errorText(error), { cause: error })
}
