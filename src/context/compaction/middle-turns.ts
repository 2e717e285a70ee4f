import type { AgentMessage } from '../../types/message.ts'
import type { ResolvedContext } from '../context-config.ts'
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
  const loopOf = (message: AgentMessage) => loops.get(message) ?? ''
  const recent = new Set(outline.parts.slice(outline.parts.length - split.recent).flatMap((part) => part.messages.map(loopOf)))
  const scope = loopsInScope(loops, compaction.scope, { recent, maxContextTokens, counter })
  const compacted = new Set<string>()
  const turns: (readonly AgentMessage[])[] = []
  let removed = 0
  for (const part of middleOf(outline, split)) {
    const messages = part.messages.filter((message) => removedCount(message) === 0)
    for (const message of part.messages) removed += removedCount(message)
    // What was summarised before is short, and all that is left of loops long out of scope.
    const isKept = part === outline.parts[outline.earlier] || messages.some((message) => scope.has(loopOf(message)))
    if (!isKept) removed += messages.length
    else if (messages.length > 0) turns.push(messages)
    for (const message of messages) compacted.add(loopOf(message))
  }
  return { turns, removed, loops: Math.max(1, compacted.size) }
}
