import { type AgentMessage, lastPromptIndex } from '../contract/message/message.ts'
import type { AgentEvent, AgentStartEvent } from '../contract/run/event.ts'
import { goesBack, type PendingApproval, type PendingClientCall } from '../contract/run/run-facts.ts'

/** Returns the history that a run continues. */
export type Rewind = (messages: readonly AgentMessage[]) => readonly AgentMessage[]

/** The pending calls of a paused run. */
interface Waiting {
  approvals: readonly PendingApproval[]
  clientCalls: readonly PendingClientCall[]
}

/** The known conversation and its place in the session. */
export class Conversation {
  messages: readonly AgentMessage[] = []
  /** Whether there are earlier messages. */
  hasEarlier = false
  /** Pending approvals of a paused run. */
  approvals: readonly PendingApproval[] = []
  /** Pending client tool calls of a paused run. */
  clientCalls: readonly PendingClientCall[] = []
  /** The loop at whose end the next run starts, if that is not the newest one. */
  place: string | undefined
  /** Its last loop, if known. */
  #lastLoopId: string | undefined
  /** Messages of the active run. */
  #ofRun = new Set<string>()

  /** Replaces the conversation with the server's. */
  replace({ messages, hasEarlier, approvals, clientCalls }: Waiting & { messages: readonly AgentMessage[]; hasEarlier: boolean }): void {
    this.messages = messages
    this.hasEarlier = hasEarlier
    this.approvals = approvals
    this.clientCalls = clientCalls
  }

  /** Adds earlier messages before `first`, unless the conversation begins with another message by now. */
  begins({ messages, hasEarlier }: { messages: readonly AgentMessage[]; hasEarlier: boolean }, first: string): readonly AgentMessage[] {
    if (this.messages[0]?.id !== first) return []
    this.messages = [...messages, ...this.messages]
    this.hasEarlier = hasEarlier
    return messages
  }

  /** Drops messages before the first one here, which were never requested. */
  fromHereOn<Read extends { messages: AgentMessage[]; hasEarlier: boolean }>(history: Read): Read {
    const at = this.hasEarlier ? history.messages.findIndex(({ id }) => id === this.messages[0]?.id) : 0
    return at <= 0 ? history : { ...history, messages: history.messages.slice(at), hasEarlier: true }
  }

  /** The pending calls of the previous run. */
  get waiting(): Waiting {
    const { approvals, clientCalls } = this
    return { approvals, clientCalls }
  }

  /** Sets the last loop; `place` says that the next run starts there although there is a newer one. */
  endsWith(loopId: string | undefined, place?: string): void {
    this.#lastLoopId = loopId
    this.place = place
  }

  /** Returns whether this loop is the last known one. */
  isAt(loopId: string): boolean {
    return this.#lastLoopId === loopId
  }

  /** Returns whether another client's run starts elsewhere than at the end of this conversation. */
  isLeftBy({ continuationKind, loopId, parentLoopId }: AgentStartEvent): boolean {
    if (this.place !== undefined) return true
    const lastLoopId = this.#lastLoopId
    if (loopId === lastLoopId) return false
    return goesBack(continuationKind) || (lastLoopId !== undefined && parentLoopId !== lastLoopId)
  }

  /** Starts another run; the previous one gets no more events. */
  begin(): void {
    this.#ofRun.clear()
  }

  /** Adds an event of a run. `rewind` returns the history that it continues. */
  add(event: AgentEvent, rewind: Rewind | undefined): void {
    if (event.type === 'agentStart') {
      this.messages = (rewind ?? rewindOf(event))(this.messages)
      this.approvals = []
      this.clientCalls = []
    } else if (event.type === 'messageEnd') {
      this.#ofRun.add(event.messageId)
      this.messages = withMessage(this.messages, event.message)
    } else if (event.type === 'agentEnd') {
      for (const { id } of event.messages) this.#ofRun.add(id)
      // A failed response that was retried is not in the history.
      this.messages = [...this.messages.filter(({ id }) => !this.#ofRun.has(id)), ...event.messages]
      this.approvals = event.pendingApprovals ?? []
      this.clientCalls = event.pendingClientCalls ?? []
      this.#ofRun.clear()
    }
  }
}

/** Returns the history before the response of this message, by default the last one. */
export function beforeAnswer(messageId?: string): Rewind {
  return (messages) => {
    const until = messageId === undefined ? messages.length : messages.findIndex(({ id }) => id === messageId)
    return until < 0 ? messages : messages.slice(0, lastPromptIndex(messages, until) + 1)
  }
}

/** Returns the history before this message. */
export function before(messageId: string): Rewind {
  return (messages) => {
    const at = messages.findIndex(({ id }) => id === messageId)
    return at < 0 ? messages : messages.slice(0, at)
  }
}

/** Keeps the whole history, because it was just loaded. */
export const asRead: Rewind = (messages) => messages

function rewindOf({ continuationKind }: AgentStartEvent): Rewind {
  return continuationKind.kind === 'rerun' ? beforeAnswer() : asRead
}

function withMessage(messages: readonly AgentMessage[], message: AgentMessage): readonly AgentMessage[] {
  const at = messages.findLastIndex(({ id }) => id === message.id)
  return at < 0 ? [...messages, message] : messages.with(at, message)
}
