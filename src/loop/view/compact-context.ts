import { planCompaction, runCompaction } from '../../context/compaction/compact-history.ts'
import type { ResolvedContext } from '../../context/context-config.ts'
import { totalTokens } from '../../context/tokens.ts'
import { toRunFailure } from '../../types/errors.ts'
import type { CompactionFigures } from '../../types/hooks.ts'
import type { LoopState } from '../loop-state.ts'
import type { RequestView } from './request-view.ts'

/** How far a compaction goes. */
export interface CompactOptions {
  /** Tokens of what is sent now, as far as they are known: the service may have counted more than we estimate. */
  estimatedTokens: number
  /** Tokens to come down to, measured like `estimatedTokens`. */
  targetTokens: number
  /** Summarise also where cutting tool outputs would do, or nothing had to be done. */
  force: boolean
  /** Instead of the configured one. */
  focusMessage?: string
}

/** How much of the trigger is left in use by a compaction: far enough below it not to compact again in the next turn. */
const targetShare = 0.75

/**
 * Compacts when what is sent has come too near to the limit. After an overflow always: to what is configured, and to half of what was sent at
 * most. Resolves and rejects as `compactContext`.
 */
export async function compactIfDue(loop: LoopState, view: RequestView, isOverflow: boolean): Promise<boolean> {
  const estimatedTokens = view.tokens()
  const target = view.trigger * targetShare
  if (isOverflow) return compactContext(loop, view, { estimatedTokens, targetTokens: Math.min(target, estimatedTokens / 2), force: true })
  return estimatedTokens >= view.trigger && compactContext(loop, view, { estimatedTokens, targetTokens: target, force: false })
}

/** Compacts although nothing forces it. Resolves and rejects as `compactContext`. */
export function compactNow(loop: LoopState, view: RequestView, focusMessage: string | undefined): Promise<boolean> {
  const estimatedTokens = view.tokens()
  const targetTokens = Math.min(view.trigger, estimatedTokens)
  return compactContext(loop, view, { estimatedTokens, targetTokens, force: true, ...(focusMessage !== undefined && { focusMessage }) })
}

/**
 * Puts an overlay over the older part of the history, with its events and hooks. Resolves with whether less is sent from now on.
 *
 * **Contract**
 * - No event when there is nothing to compact, or when a `beforeCompactionStart` hook says no.
 * - `compactionStarted` is always followed by `compactionEnded`; on failure nothing has changed.
 * - Rejects with what went wrong, after `compactionEnded`: `JournalError`, the signal's reason, a defect.
 *
 * Source: docs/concepts/context-and-compaction.md
 */
async function compactContext(loop: LoopState, view: RequestView, options: CompactOptions): Promise<boolean> {
  const { context, events } = loop
  const { estimatedTokens, force } = options
  if (view.room === undefined) return false
  const room = withFocus(view.room, options.focusMessage)
  const sent = view.sent()
  const ownEstimate = totalTokens(sent, room.counter)
  // The target in the measure of our own estimates.
  const targetTokens = Math.floor(options.targetTokens * Math.min(1, ownEstimate / Math.max(1, estimatedTokens)))
  const { messages, state = {} } = context
  const plan = planCompaction({ messages, state, view: sent, context: room, loopId: events.loopId, targetTokens, force })
  if (plan === undefined) return false
  if ((await loop.hooks.beforeCompaction(estimatedTokens, sent.length)) === false) return false
  events.emit({ type: 'compactionStarted', estimatedTokens, messageCount: sent.length })
  const before: CompactionFigures = {
    messagesBefore: sent.length,
    messagesAfter: sent.length,
    tokensBefore: ownEstimate,
    tokensAfter: ownEstimate,
  }
  try {
    const compacted = await runCompaction(plan, {
      signal: loop.stop.signal,
      budget: loop.budget,
      warn: (event, fields) => loop.warn(event, fields),
    })
    if (compacted === undefined) {
      await ended(loop, before, 0)
      return false
    }
    await loop.record({ type: 'compaction', overlay: compacted.overlay })
    view.change({ overlay: compacted.overlay })
    const after = view.sent()
    await ended(loop, { ...before, messagesAfter: after.length, tokensAfter: totalTokens(after, room.counter) }, compacted.loopsCompacted)
    return true
  } catch (error) {
    await ended(loop, before, 0, error)
    throw error
  }
}

function withFocus(room: ResolvedContext, focusMessage: string | undefined): ResolvedContext {
  return focusMessage === undefined ? room : { ...room, compaction: { ...room.compaction, focusMessage } }
}

async function ended(loop: LoopState, figures: CompactionFigures, loopsCompacted: number, error?: unknown): Promise<void> {
  loop.events.emit({
    type: 'compactionEnded',
    messagesBefore: figures.messagesBefore,
    messagesAfter: figures.messagesAfter,
    estimatedTokensBefore: figures.tokensBefore,
    estimatedTokensAfter: figures.tokensAfter,
    loopsCompacted,
    ...(error !== undefined && { error: toRunFailure(error) }),
  })
  await loop.hooks.afterCompaction(figures)
}
