import { type LateChunk, lateChunk } from '../base/late/late-chunk.ts'
import type { ContextChange, ContextState } from '../contract/context/context-change.ts'
import { JournalError, LoadError } from '../contract/errors.ts'
import { isMedia } from '../contract/message/content.ts'
import type { RunEnding } from '../types/run/run.ts'
import type { LoopState } from './loop-state.ts'
import type { RequestView } from './view/request-view.ts'

/** Lazily loaded chunk: compaction, prunes, reverts, and the view of a history that contains any of them. */
const chunk: LateChunk<typeof import('./view/index.ts')> = lateChunk('compaction', () => import('./view/index.ts'))

type MediaTokens = typeof import('../context/tokens/media-tokens.ts')
/** Provider rules for counting images and files. */
const mediaTokens: LateChunk<MediaTokens> = lateChunk('the estimate of media', () => import('../context/tokens/media-tokens.ts'))

/** Loads and caches the view of a history, for histories that are sent only in part or that a tool can revert. */
export async function loadView(loop: LoopState): Promise<RequestView> {
  const { context, contextWindow } = loop
  if (contextWindow.view !== undefined) return contextWindow.view
  const { RequestView } = chunk.loaded ?? (await chunk.load())
  contextWindow.view = new RequestView(context, contextWindow)
  return contextWindow.view
}

/** Returns whether a loop needs a view from the start, because its history has context changes or node numbers. */
export function needsView({ context }: LoopState): boolean {
  return context.state !== undefined || context.tools.some((tool) => tool.revertPolicy !== undefined)
}

/**
 * Compacts the context if it is near the limit. Logs a failure, and the turn continues without compaction. Rejects only with `JournalError`
 * and `LoadError`.
 *
 * Source: docs/concepts/context.md
 */
export function compactIfDue(loop: LoopState): Promise<unknown> | undefined {
  if (mediaToCount(loop)) return countMedia(loop).then(() => keepCounted(loop))
  return keepCounted(loop)
}

function keepCounted(loop: LoopState): Promise<unknown> | undefined {
  if (loop.stop.aborted || !isNearlyFull(loop)) return undefined
  return compacted(loop, async (view) => (await chunk.load()).compactContext(loop, view, { cause: 'due' }))
}

/**
 * Compacts the context after the provider rejected the prompt as too long. Resolves with whether the request got smaller. Rejects like
 * {@link compactIfDue}.
 */
export async function makeRoom(loop: LoopState): Promise<boolean> {
  if (loop.contextWindow.limits === undefined || loop.stop.aborted) return false
  return compacted(loop, async (view) => (await chunk.load()).compactContext(loop, view, { cause: 'overflow' }))
}

/** Compacts the context on request. On failure, rejects and leaves the context unchanged. */
export async function compactAsAsked(loop: LoopState, focusMessage: string | undefined): Promise<RunEnding> {
  try {
    if (mediaToCount(loop)) await countMedia(loop)
    const view = await loadView(loop)
    await (await chunk.load()).compactContext(loop, view, { cause: 'asked', focusMessage })
  } catch (error) {
    if (error instanceof JournalError || !loop.stop.aborted) throw error
  }
  return { status: loop.stop.aborted ? 'aborted' : 'completed' }
}

/**
 * Applies the prunes and reverts that this turn's tools requested, without changing the history. Never rejects: if recording fails, the run
 * fails.
 */
export async function pruneAndRevert(loop: LoopState, changes: readonly ContextChange[]): Promise<void> {
  if (changes.length === 0) return
  try {
    const view = await loadView(loop)
    await (await chunk.load()).applyContextChanges(loop, view, changes)
  } catch (error) {
    loop.fail(error)
  }
}

/** Returns whether the history has media whose token counter is not loaded. Checks each message only once. */
function mediaToCount(loop: LoopState): boolean {
  const { contextWindow, config, context } = loop
  const { tokenCounter } = config.contextConfig || {}
  if (contextWindow.limits === undefined || contextWindow.searched === undefined || tokenCounter !== undefined) return false
  const { messages } = context
  for (; contextWindow.searched < messages.length; contextWindow.searched += 1) {
    const message = messages[contextWindow.searched]
    if (message !== undefined && message.role !== 'extension' && message.content.some(isMedia)) return true
  }
  return false
}

async function countMedia({ contextWindow, config }: LoopState): Promise<void> {
  const { tokenCounterFor } = mediaTokens.loaded ?? (await mediaTokens.load())
  contextWindow.searched = undefined
  contextWindow.countBy(tokenCounterFor(config.model.config.id))
}

const noState: ContextState = {}

function isNearlyFull({ contextWindow, context }: LoopState): boolean {
  const { limits, meter, view, trigger } = contextWindow
  if (limits === undefined) return false
  const { promptTokens } = view?.size() ?? meter.measure(context.messages, context.state ?? noState)
  return promptTokens >= trigger
}

async function compacted(loop: LoopState, compact: (view: RequestView) => Promise<boolean>): Promise<boolean> {
  try {
    return await compact(await loadView(loop))
  } catch (error) {
    if (error instanceof JournalError || LoadError.isInstance(error)) throw error
    loop.log.warnFailed('compactionFailed', error)
    return false
  }
}
