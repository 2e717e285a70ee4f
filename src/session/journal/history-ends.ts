import type { ContextState } from '../../types/context-change.ts'
import type { JournalEntry, JournaledConversation } from '../../types/journal.ts'
import type { AgentMessage } from '../../types/message.ts'

/** How far the recorded history of a loop reaches, and what was changed of what is sent. Lists only grow, or others take their place. */
interface HistoryEnd {
  messages: readonly AgentMessage[]
  length: number
  overlay: ContextState['overlay']
  prunes: number
  reverts: number
}

/** How many loops are remembered: the branches of a conversation, and not every history that was ever replaced. */
const remembered = 100

/** Knows the recorded history of the loops begun last, so that of a loop that goes on from there only what is new needs to be
 * recorded. What is forgotten counts as another history. */
export class HistoryEnds {
  readonly #ends = new Map<string, HistoryEnd>()
  #hasLoops = false

  /** The history of `loopId` is in the log, as it is now. */
  set(loopId: string, { messages, state = {} }: JournaledConversation): void {
    const { overlay, prunes = [], reverts = [] } = state
    this.#hasLoops = true
    this.#ends.set(loopId, { messages, length: messages.length, overlay, prunes: prunes.length, reverts: reverts.length })
    if (this.#ends.size <= remembered) return
    for (const oldest of this.#ends.keys()) return void this.#ends.delete(oldest)
  }

  /**
   * Whether a conversation is, message by message, what the log says of `loopId`. Without one, and with the parent of a sub-agent's first loop,
   * whether it is empty.
   */
  isAt(loopId: string | undefined, { messages, state = {} }: JournaledConversation): boolean {
    const { overlay, prunes = [], reverts = [] } = state
    const end = loopId === undefined ? undefined : this.#ends.get(loopId)
    if (end === undefined) {
      const isRoot = loopId === undefined || !this.#hasLoops
      return isRoot && messages.length + prunes.length + reverts.length === 0 && overlay === undefined
    }
    if (messages.length !== end.length || prunes.length !== end.prunes || reverts.length !== end.reverts) return false
    if (!isSame(overlay, end.overlay)) return false
    return messages === end.messages || messages.every((message, at) => isSame(message, end.messages[at]))
  }

  /** Notes what is now recorded of a loop. */
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

  /** Nothing is sure to be in the log any more. */
  clear(): void {
    this.#ends.clear()
  }
}

/** A conversation that was restored holds copies. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
