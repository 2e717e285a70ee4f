import type { ContextState, RevertPolicy } from '../types/context-change.ts'
import type { AgentMessage } from '../types/message.ts'
import { expandOverlay } from './compaction/expand-overlay.ts'
import { renderNodes } from './render-nodes.ts'
import { visibleIn } from './visible-messages.ts'

/**
 * What is sent of a history: the compaction overlay takes the place of what it covers, pruned and abandoned messages are left out, the memos
 * of prunes are put in, and, with `revert`, node ids and tags are shown to the model.
 *
 * **Contract**
 * - Nothing is changed; unchanged messages keep their identity, and changed ones are the same objects at each call, so that encoded forms
 *   and token counts are found again.
 * - A history that nothing was done to is returned itself.
 *
 * Source: ARCHITECTURE §3 "History is one ordered list", spec/14 "Loading rule", spec/17.
 */
export function deriveView(
  messages: readonly AgentMessage[],
  state: ContextState,
  revert?: { policy: RevertPolicy; turnIndex: number },
): readonly AgentMessage[] {
  const expanded = expandOverlay(messages, state.overlay)
  const visible = visibleIn(expanded, state)
  const { first, compacted, recent, rest } = expanded
  const view = state.overlay === undefined ? visible(rest) : [first, compacted, recent, rest].flatMap((section) => visible(section))
  return revert === undefined ? view : renderNodes(view, state, revert)
}
