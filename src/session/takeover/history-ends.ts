import type { ContextState } from '../../contract/context/context-change.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { JournalEntry } from '../../contract/session/journal-entry.ts'
import type { JournaledConversation } from '../../types/session/journal.ts'

/** Recorded length of a loop's history, and the recorded context state. Lists only grow or are replaced. */
interface HistoryEnd {
  messages: readonly AgentMessage[]
  length: number
  overlay: ContextState['overlay']
  prunes: number
  reverts: number
}

/** Maximum loops to remember: enough for a conversation's branches. */
const remembered = 100

/**
 * Tracks the recorded history of recent loops, so that a following loop records only new messages. An evicted loop counts as a different
 * history.
 */
export class HistoryEnds {
  readonly #ends = new Map<string, HistoryEnd>()
  #hasLoops = false

  /** Marks the current history of `loopId` as recorded. */
  set(loopId: string, { messages, state = {} }: JournaledConversation): void {
    const { overlay, prunes = [], reverts = [] } = state
    this.#hasLoops = true
    this.#ends.set(loopId, { messages, length: messages.length, overlay, prunes: prunes.length, reverts: reverts.length })
    if (this.#ends.size <= remembered) return
    for (const oldest of this.#ends.keys()) return void this.#ends.delete(oldest)
  }

  /**
   * Returns whether a conversation equals the recorded history of `loopId`. Without a loop, or with the parent of a sub-agent's first loop:
   * whether it is empty.
   */
  isAt(loopId: string | undefined, conversation: JournaledConversation): boolean {
    return this.beyond(loopId, conversation)?.length === 0
  }

  /**
   * Returns the messages after the recorded history of `loopId`, or `undefined` if the history differs. Without a loop, returns all
   * messages.
   */
  beyond(loopId: string | undefined, { messages, state = {} }: JournaledConversation): readonly AgentMessage[] | undefined {
    const { overlay, prunes = [], reverts = [] } = state
    const end = loopId === undefined ? undefined : this.#ends.get(loopId)
    if (end === undefined) {
      const isRoot = loopId === undefined || !this.#hasLoops
      return isRoot && prunes.length + reverts.length === 0 && overlay === undefined ? messages : undefined
    }
    if (prunes.length !== end.prunes || reverts.length !== end.reverts || !isSame(overlay, end.overlay)) return undefined
    return beginsWith(messages, end.messages, end.length) ? messages.slice(end.length) : undefined
  }

  /** Whether any loop was recorded or read. */
  get hasLoops(): boolean {
    return this.#hasLoops
  }

  /** Updates the recorded history for a loop's new record. */
  advance(loopId: string, entry: JournalEntry): void {
    const end = this.#ends.get(loopId)
    if (end === undefined) return
    switch (entry.type) {
      case 'input':
      case 'assistant':
      case 'toolResult':
        end.length += 1
        break
      case 'compaction':
        end.overlay = entry.overlay
        break
      case 'prune':
        end.prunes += 1
        break
      case 'revert':
        end.reverts += 1
        break
    }
  }

  /** Drops a loop whose recorded state is uncertain. */
  forget(loopId: string): void {
    this.#ends.delete(loopId)
  }

  /** Drops all loops. */
  clear(): void {
    this.#ends.clear()
  }
}

/** Returns whether a history begins with the first `length` messages of another. */
export function beginsWith(messages: readonly AgentMessage[], other: readonly AgentMessage[], length: number): boolean {
  if (messages.length < length) return false
  if (messages === other) return true
  for (let at = 0; at < length; at += 1) if (!isSame(messages[at], other[at])) return false
  return true
}

/** Compares content as well, because a restored conversation contains copies of the messages. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
