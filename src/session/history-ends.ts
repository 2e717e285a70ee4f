import type { ContextState } from '../types/context-change.ts'
import type { JournalEntry, JournaledConversation } from '../types/journal.ts'
import type { AgentMessage } from '../types/message.ts'

/** How far the recorded history of a loop reaches, and what was changed of what is sent. Lists only grow, or others take their place. */
interface HistoryEnd {
  messages: readonly AgentMessage[]
  length: number
  overlay: ContextState['overlay']
  prunes: number
  reverts: number
}

/** Knows the recorded history of every loop, so that of a loop that goes on from there only what is new needs to be recorded. */
export class HistoryEnds {
  readonly #ends = new Map<string, HistoryEnd>()

  /** The history of `loopId` is in the log, as it is now. */
  set(loopId: string, { messages, state = {} }: JournaledConversation): void {
    const { overlay, prunes = [], reverts = [] } = state
    this.#ends.set(loopId, { messages, length: messages.length, overlay, prunes: prunes.length, reverts: reverts.length })
  }

  /** Whether a conversation is, message by message, what the log says of `loopId`; without one, whether it is empty. */
  isAt(loopId: string | undefined, { messages, state = {} }: JournaledConversation): boolean {
    const { overlay, prunes = [], reverts = [] } = state
    const end = loopId === undefined ? undefined : this.#ends.get(loopId)
    if (end === undefined) return messages.length + prunes.length + reverts.length === 0 && overlay === undefined
    if (messages.length !== end.length || overlay !== end.overlay) return false
    if (prunes.length !== end.prunes || reverts.length !== end.reverts) return false
    return messages === end.messages || messages.every((message, at) => message === end.messages[at])
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
