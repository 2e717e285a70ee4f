import type { AgentMessage } from '../../types/message.ts'
import type { ResolvedContext } from '../context-config.ts'
import { turnsOf } from '../turns.ts'
import type { Outline } from './outline.ts'
import { loopsInScope, loopsOf } from './scope.ts'
import { middleOf, type Split } from './split.ts'
import { removedCount } from './summary-lines.ts'

/** What is to be summarised. */
export interface MiddleTurns {
  /** Turns of loops in scope, oldest first; the first holds the summaries of an earlier compaction, if there are any. */
  turns: readonly (readonly AgentMessage[])[]
  /** Messages that are left out: those of older loops, and those that were left out before. */
  removed: number
  /** Loops that turns between those kept belong to. */
  loops: number
}

/** The turns between those that `split` keeps, without loops out of scope and without markers of earlier compactions. */
export function middleTurns(outline: Outline, split: Split, { compaction, maxContextTokens, counter }: ResolvedContext): MiddleTurns {
  const loops = loopsOf(outline.parts.flatMap((part) => part.messages))
  const scope = loopsInScope(loops, compaction.scope, { maxContextTokens, counter })
  const isInScope = (message: AgentMessage) => scope.has(loops.get(message) ?? '')
  const compacted = new Set<string | undefined>()
  const turns: (readonly AgentMessage[])[] = []
  let removed = 0
  for (const part of middleOf(outline, split)) {
    const messages = part.messages.filter((message) => removedCount(message) === 0)
    for (const message of part.messages) removed += removedCount(message)
    const groups = part === outline.parts[outline.earlier] ? turnsOf(messages) : [messages]
    const kept = groups.filter((turn) => turn.some(isInScope)).flat()
    removed += messages.length - kept.length
    if (kept.length > 0) turns.push(kept)
    for (const message of messages) compacted.add(loops.get(message))
  }
  return { turns, removed, loops: Math.max(1, compacted.size) }
}
