import { planCompaction, runCompaction } from '../context/compaction/compact-history.ts'
import { compactionTarget, type ResolvedContext } from '../context/tokens/context-limits.ts'
import { totalTokens } from '../context/tokens/estimate.ts'
import { failureOf, JournalError } from '../types/errors.ts'
import type { RunStatus } from '../types/event.ts'
import type { CompactionFigures } from '../types/hooks.ts'
import type { LoopRun } from './loop-run.ts'

/** How far a compaction goes. */
export interface CompactOptions {
  /** Why: decides how much is left. */
  cause: 'due' | 'overflow' | 'asked'
  /** Summarise also where cutting tool outputs would do, or nothing had to be done. */
  force: boolean
  /** Instead of the configured one. */
  focusMessage?: string
}

/**
 * Compacts when what is sent has come too near to the limit. After an overflow always: to what is configured, and to half of what was sent at
 * most. Resolves and rejects as `compactContext`.
 */
export async function compactIfDue(run: LoopRun, isOverflow: boolean): Promise<boolean> {
  const contextWindow = await run.contextWindow()
  if (isOverflow) return compactContext(run, { cause: 'overflow', force: true })
  return contextWindow.size().promptTokens >= contextWindow.trigger && compactContext(run, { cause: 'due', force: false })
}

/** Compacts although nothing forces it. Resolves with how the run ends; rejects as `compactContext`, but not for an abort. */
export async function compactNow(run: LoopRun, focusMessage: string | undefined): Promise<RunStatus> {
  try {
    await compactContext(run, { cause: 'asked', force: true, ...(focusMessage !== undefined && { focusMessage }) })
  } catch (error) {
    if (error instanceof JournalError || !run.signal.aborted) throw error
  }
  return run.signal.aborted ? 'aborted' : 'completed'
}

/**
 * Puts an overlay over the older part of the history, with its events and hooks. Resolves with whether less is sent from now on.
 *
 * **Contract**
 * - No event when there is nothing to compact, or when a `beforeCompactionStart` hook says no.
 * - `compactionStarted` is always followed by `compactionEnded`; on failure nothing has changed.
 * - Rejects with what went wrong, after `compactionEnded`: `JournalError`, the signal's reason, a defect.
 *
 * Source: spec/14, spec/12.
 */
async function compactContext(run: LoopRun, options: CompactOptions): Promise<boolean> {
  const { context, events } = run
  const contextWindow = await run.contextWindow()
  const { cause, force } = options
  if (contextWindow.limits === undefined) return false
  const limits = withFocus(contextWindow.limits, options.focusMessage)
  const view = contextWindow.sent()
  const size = contextWindow.size()
  const { messageTokens: ownEstimate } = size
  // Of the messages: what system prompt and tools take stays.
  const estimatedTokens = size.promptTokens - limits.systemPromptTokens
  const targetTokens = compactionTarget(limits, size, cause)
  const { messages, state = {} } = context
  const plan = planCompaction({ messages, state, view, context: limits, loopId: events.loopId, targetTokens, force })
  if (plan === undefined) return false
  if ((await run.lifecycle?.beforeCompaction(estimatedTokens, view.length)) === false) return false
  events.emit({ type: 'compactionStarted', estimatedTokens, messageCount: view.length })
  const before: CompactionFigures = {
    messagesBefore: view.length,
    messagesAfter: view.length,
    tokensBefore: ownEstimate,
    tokensAfter: ownEstimate,
  }
  try {
    const compacted = await runCompaction(plan, {
      signal: run.signal,
      budget: run.budget,
      warn: (event, fields) => run.warn(event, fields),
    })
    if (compacted === undefined) {
      await ended(run, before, 0)
      return false
    }
    await run.record({ type: 'compaction', overlay: compacted.overlay })
    contextWindow.change({ overlay: compacted.overlay })
    const after = contextWindow.sent()
    await ended(run, { ...before, messagesAfter: after.length, tokensAfter: totalTokens(after, limits.counter) }, compacted.loopsCompacted)
    return true
  } catch (error) {
    await ended(run, before, 0, error)
    throw error
  }
}

function withFocus(limits: ResolvedContext, focusMessage: string | undefined): ResolvedContext {
  return focusMessage === undefined ? limits : { ...limits, compaction: { ...limits.compaction, focusMessage } }
}

async function ended(run: LoopRun, figures: CompactionFigures, loopsCompacted: number, error?: unknown): Promise<void> {
  run.events.emit({
    type: 'compactionEnded',
    messagesBefore: figures.messagesBefore,
    messagesAfter: figures.messagesAfter,
    estimatedTokensBefore: figures.tokensBefore,
    estimatedTokensAfter: figures.tokensAfter,
    loopsCompacted,
    ...(error !== undefined && { error: failureOf(error) }),
  })
  await run.lifecycle?.afterCompaction(figures)
}
