import type { ContextState } from '../../contract/context/context-change.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { JournalEntry } from '../../contract/session/journal-entry.ts'
import type { JournaledConversation } from '../../types/session/journal.ts'

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
  isAt(loopId: string | undefined, conversation: JournaledConversation): boolean {
    return this.beyond(loopId, conversation)?.length === 0
  }

  /**
   * What a conversation has after what the log says of `loopId`; `undefined` where it is not the same as far as that. Without a loop, what it has
   * at all.
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

  /** It is no longer sure what the log says of `loopId`. */
  forget(loopId: string): void {
    this.#ends.delete(loopId)
  }

  /** Nothing is sure to be in the log any more. */
  clear(): void {
    this.#ends.clear()
  }
}

/** Whether a history begins with the first `length` messages of another. */
export function beginsWith(messages: readonly AgentMessage[], other: readonly AgentMessage[], length: number): boolean {
  if (messages.length < length) return false
  if (messages === other) return true
  for (let at = 0; at < length; at += 1) if (!isSame(messages[at], other[at])) return false
  return true
}

/** A conversation that was restored holds copies. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
