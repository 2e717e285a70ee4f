import { contextTokensOf } from '../../../../src/context.ts'
import type { RunState } from '../../../../src/store.ts'

/** Tokens in the last prompt and its response, with which the next prompt starts. */
export function promptTokens({ messages, notes }: RunState): number {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const view = messages[at]
    if (view?.message?.role !== 'assistant') continue
    const { usage } = view.message
    const compacted = notes.findLast(
      (note) => note.type === 'compaction' && note.status === 'done' && note.at > (view.endedAt ?? view.startedAt),
    )
    if (compacted?.type === 'compaction' && compacted.tokensAfter !== undefined) return compacted.tokensAfter
    if (usage.input + usage.cacheRead + usage.cacheWrite > 0) return contextTokensOf(usage)
  }
  return 0
}
