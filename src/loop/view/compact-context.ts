import { compactionTarget, planCompaction, runCompaction } from '../../context/compaction/compact-history.ts'
import type { ResolvedContext } from '../../context/tokens/context-limits.ts'
import { totalTokens } from '../../context/tokens/estimate.ts'
import { toRunFailure } from '../../contract/errors.ts'
import { combineUsage, type Usage } from '../../contract/model/usage.ts'
import type { CompactionFigures } from '../../types/run/hooks.ts'
import type { LoopState } from '../loop-state.ts'
import type { RequestView } from './request-view.ts'

/** Why the context is compacted, which decides how much is left. `focusMessage` stands instead of the configured one. */
type CompactionReason = { cause: 'due' | 'overflow' } | { cause: 'asked'; focusMessage: string | undefined }

/**
 * Puts an overlay over the older part of the history, with its events and hooks. Resolves with whether less is sent from now on.
 *
 * **Contract**
 * - When it is `due`, nothing happens unless what is sent has come too near to the limit. After an `overflow` it goes to what is configured, and to
 *   half of what was sent at most.
 * - No event when there is nothing to compact, or when a `beforeCompactionStart` hook says no.
 * - `compactionStarted` is always followed by `compactionEnded`; on failure nothing has changed.
 * - Rejects with what went wrong, after `compactionEnded`: `JournalError`, the signal's reason, a defect.
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
  // Of the messages: what system prompt and tools take stays.
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

/** How a compaction has ended, and what the models that it asked have used. */
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
