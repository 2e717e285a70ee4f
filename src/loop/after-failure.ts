import { raceAbort, startTimer } from '../base/abort.ts'
import { errorText, failureOf, JournalError, type ProviderError } from '../types/errors.ts'
import type { RetryConfig } from '../types/settings.ts'
import type { AssistantEntry, AssistantStream } from './assistant-stream.ts'
import type { LoopRun } from './loop-run.ts'
import { retryDelayMs } from './retry.ts'

/** What one turn has tried so far. */
export interface Tries {
  /** The retry that would come next, from 1. */
  attempt: number
  retry: RetryConfig
  hasRefreshed: boolean
  hasCompacted: boolean
}

/** What follows a failed call: its error as the answer, the same request again, or one of a shorter history. */
export type NextTry = 'close' | 'repeat' | 'shorten'

/**
 * Decides what follows a failed model call, and waits as long as that asks for. An attempt that is repeated is closed here. Rejects only with
 * `JournalError`.
 */
export async function afterFailure(run: LoopRun, stream: AssistantStream, error: ProviderError, tries: Tries): Promise<NextTry> {
  if (error.code === 'cancelled') return 'close'
  const isSilent = !stream.hasOutput
  if (error.code === 'auth' && isSilent && !tries.hasRefreshed && (await refreshCredential(run))) {
    tries.hasRefreshed = true
    stream.discard()
    return 'repeat'
  }
  if (error.code === 'contextOverflow' && isSilent && !tries.hasCompacted && (await recoverFromOverflow(run))) {
    tries.hasCompacted = true
    stream.discard()
    return 'shorten'
  }
  if (!error.isRetryable || tries.attempt > tries.retry.maxRetries) return 'close'
  await announceRetry(run, stream, error, tries)
  tries.attempt += 1
  return 'repeat'
}

/** Makes room after the service said that the prompt is too long. Resolves with whether less is sent now. Rejects only with `JournalError`. */
async function recoverFromOverflow(run: LoopRun): Promise<boolean> {
  if (run.config.contextConfig === false || run.signal.aborted) return false
  try {
    const { compactIfDue } = await import('./compact-context.ts')
    return await compactIfDue(run, true)
  } catch (error) {
    if (error instanceof JournalError) throw error
    run.warnFailed('compactionFailed', error)
    return false
  }
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
async function announceRetry(run: LoopRun, stream: AssistantStream, error: ProviderError, { attempt, retry }: Tries): Promise<void> {
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

/** Waits `ms`; rejects with the signal's reason when it aborts first. Leaves neither timer nor listener. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let stopTimer: (() => void) | undefined
  const wait = new Promise<void>((resolve) => {
    stopTimer = startTimer(ms, resolve)
  })
  return raceAbort(wait, signal).finally(stopTimer)
}
