import type { RunState } from '../../../src/store/index.ts'

/** Tokens of the newest prompt with its answer: what the next one begins with. */
export function promptTokens({ messages, notes }: RunState): number {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const view = messages[at]
    if (view?.message?.role !== 'assistant') continue
    const { input, cacheRead, cacheWrite, output } = view.message.usage
    const compacted = notes.findLast(
      (note) => note.type === 'compaction' && note.status === 'done' && note.at > (view.endedAt ?? view.startedAt),
    )
    if (compacted?.type === 'compaction' && compacted.tokensAfter !== undefined) return compacted.tokensAfter
    if (input + cacheRead + cacheWrite > 0) return input + cacheRead + cacheWrite + output
  }
  return 0
}
