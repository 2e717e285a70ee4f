import type { ContextState } from '../types/context-change.ts'
import type { AgentMessage } from '../types/message.ts'
import { expandOverlay } from './compaction/expand-overlay.ts'
import { visibleIn } from './visible-messages.ts'

/**
 * What is sent of a history: the compaction overlay takes the place of what it covers, pruned and abandoned messages are left out, and the
 * memos of prunes are put in.
 *
 * **Contract**
 * - Nothing is changed; unchanged messages keep their identity, what is put in is the same object at each call, so that encoded forms
 *   and token counts are found again.
 * - A history that nothing was done to is returned itself.
 *
 * Source: ARCHITECTURE §3 "History is one ordered list", spec/14 "Loading rule", spec/17.
 */
export function deriveView(messages: readonly AgentMessage[], state: ContextState): readonly AgentMessage[] {
  const expanded = expandOverlay(messages, state.overlay)
  const visible = visibleIn(expanded, state)
  const { first, compacted, recent, rest } = expanded
  return state.overlay === undefined ? visible(rest) : [first, compacted, recent, rest].flatMap((section) => visible(section))
}
