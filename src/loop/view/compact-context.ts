import { compactionTarget, planCompaction, runCompaction } from '../../context/compaction/compact-history.ts'
import type { ResolvedContext } from '../../context/tokens/context-limits.ts'
import { totalTokens } from '../../context/tokens/estimate.ts'
import { toRunFailure } from '../../contract/errors.ts'
import { combineUsage, type Usage } from '../../contract/model/usage.ts'
import type { CompactionFigures } from '../../types/run/hooks.ts'
import type { LoopState } from '../loop-state.ts'
import type { RequestView } from './request-view.ts'

/** Reason for a compaction, which determines the target size. `focusMessage` overrides the configured value. */
type CompactionReason = { cause: 'due' | 'overflow' } | { cause: 'asked'; focusMessage: string | undefined }

/**
 * Compacts the older part of the history for requests, emits the events and calls the hooks. Resolves with whether requests get smaller.
 *
 * **Contract**
 * - `due`: compacts only if the request is near the limit. `overflow`: compacts to the configured size, and at most half of the request.
 * - Emits nothing if there is nothing to compact, or if a `beforeCompactionStart` hook refuses.
 * - Emits exactly one `compactionEnded` after `compactionStarted`. A failure changes nothing.
 * - Rejects after `compactionEnded` with the error: `JournalError`, the signal's reason, or a bug.
 *
 * Source: docs/concepts/context.md
 */
export async function compactContext(loop: LoopState, view: RequestView, reason: CompactionReason): Promise<boolean> {
  const { context, events, contextWindow } = loop
  const { cause } = reason
  const size = view.size()
  if (contextWindow.limits === undefined || (cause === 'due' && size.promptTokens < contextWindow.trigger)) return false
  const limits = withFocus(contextWindow.limits, cause === 'asked' ? reason.focusMessage : undefined)
  const sent = view.sent()
  const { messageTokens: ownEstimate } = size
  // Count only the messages, because system prompt and tools are not compacted.
  const estimatedTokens = size.promptTokens - limits.systemPromptTokens
  const targetTokens = compactionTarget(limits, size, cause)
  const { messages, state = {} } = context
  const plan = planCompaction({ messages, state, view: sent, context: limits, loopId: events.loopId, targetTokens, force: cause !== 'due' })
  if (plan === undefined) return false
  if (!(await mayBegin(loop, estimatedTokens, sent.length))) return false
  events.emit({ type: 'compactionStarted', estimatedTokens, messageCount: sent.length })
  const before: CompactionFigures = {
    messagesBefore: sent.length,
    messagesAfter: sent.length,
    tokensBefore: ownEstimate,
    tokensAfter: ownEstimate,
  }
  let usage: Usage | undefined
  try {
    const compacted = await runCompaction(plan, {
      signal: loop.stop.signal,
      budget: loop.budget,
      warn: (event, fields) => loop.log.warn(event, fields),
      spent: (more) => {
        usage = usage === undefined ? more : combineUsage(usage, more)
      },
    })
    if (compacted === undefined) {
      await ended(loop, { figures: before, loopsCompacted: 0, usage })
      return false
    }
    await loop.record({ type: 'compaction', overlay: compacted.overlay })
    view.change({ overlay: compacted.overlay })
    const after = view.sent()
    const figures = { ...before, messagesAfter: after.length, tokensAfter: totalTokens(after, limits.counter) }
    await ended(loop, { figures, loopsCompacted: compacted.loopsCompacted, usage })
    return true
  } catch (error) {
    await ended(loop, { figures: before, loopsCompacted: 0, usage, error })
    throw error
  }
}

function mayBegin({ hooks, stop: { signal } }: LoopState, estimatedTokens: number, messageCount: number): Promise<boolean> {
  return hooks.allows('beforeCompactionStart', ({ beforeCompactionStart }) =>
    beforeCompactionStart?.({ ...hooks.origin(), estimatedTokens, messageCount, signal }),
  )
}

function withFocus(limits: ResolvedContext, focusMessage: string | undefined): ResolvedContext {
  return focusMessage === undefined ? limits : { ...limits, compaction: { ...limits.compaction, focusMessage } }
}

/** Outcome of a compaction, and the usage of its model calls. */
interface CompactionEnd {
  figures: CompactionFigures
  loopsCompacted: number
  usage: Usage | undefined
  error?: unknown
}

async function ended(loop: LoopState, { figures, loopsCompacted, usage, error }: CompactionEnd): Promise<void> {
  loop.events.emit({
    type: 'compactionEnded',
    messagesBefore: figures.messagesBefore,
    messagesAfter: figures.messagesAfter,
    estimatedTokensBefore: figures.tokensBefore,
    estimatedTokensAfter: figures.tokensAfter,
    loopsCompacted,
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error: toRunFailure(error) }),
  })
  const { hooks, stop } = loop
  await hooks.observe('afterCompactionEnd', ({ afterCompactionEnd }) =>
    afterCompactionEnd?.({ ...hooks.origin(), ...figures, signal: stop.signal }),
  )
}
