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

/** The conversation as known to this client, and its position in the session. */
export class Conversation {
  messages: readonly AgentMessage[] = []
  /** Whether the session has messages before the loaded ones. */
  hasEarlier = false
  /** Pending approvals of a paused run. */
  approvals: readonly PendingApproval[] = []
  /** Pending client tool calls of a paused run. */
  clientCalls: readonly PendingClientCall[] = []
  /** Loop after which the next run starts, unless that is the newest loop. */
  place: string | undefined
  /** The conversation's last loop, if known. */
  #lastLoopId: string | undefined
  /** Messages of the active run. */
  #ofRun = new Set<string>()

  /** Replaces the conversation with the one loaded from the server. */
  replace({ messages, hasEarlier, approvals, clientCalls }: Waiting & { messages: readonly AgentMessage[]; hasEarlier: boolean }): void {
    this.messages = messages
    this.hasEarlier = hasEarlier
    this.approvals = approvals
    this.clientCalls = clientCalls
  }

  /** Inserts earlier messages before `first`, unless the conversation now begins with another message. */
  begins({ messages, hasEarlier }: { messages: readonly AgentMessage[]; hasEarlier: boolean }, first: string): readonly AgentMessage[] {
    if (this.messages[0]?.id !== first) return []
    this.messages = [...messages, ...this.messages]
    this.hasEarlier = hasEarlier
    return messages
  }

  /** Removes messages before the first loaded one, because they were never requested. */
  fromHereOn<Read extends { messages: AgentMessage[]; hasEarlier: boolean }>(history: Read): Read {
    const at = this.hasEarlier ? history.messages.findIndex(({ id }) => id === this.messages[0]?.id) : 0
    return at <= 0 ? history : { ...history, messages: history.messages.slice(at), hasEarlier: true }
  }

  /** The pending calls of the previous run. */
  get waiting(): Waiting {
    const { approvals, clientCalls } = this
    return { approvals, clientCalls }
  }

  /** Sets the last loop. Pass `place` if the next run starts after this loop although a newer loop exists. */
  endsWith(loopId: string | undefined, place?: string): void {
    this.#lastLoopId = loopId
    this.place = place
  }

  /** Returns whether this loop is the last known one. */
  isAt(loopId: string): boolean {
    return this.#lastLoopId === loopId
  }

  /** Returns whether another client's run starts from a different point than the end of this conversation. */
  isLeftBy({ continuationKind, loopId, parentLoopId }: AgentStartEvent): boolean {
    if (this.place !== undefined) return true
    const lastLoopId = this.#lastLoopId
    if (loopId === lastLoopId) return false
    return goesBack(continuationKind) || (lastLoopId !== undefined && parentLoopId !== lastLoopId)
  }

  /** Switches to another run. The previous run receives no further events. */
  begin(): void {
    this.#ofRun.clear()
  }

  /** Adds a run event. `rewind` returns the history that the run continues. */
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
      // Remove messages that the run streamed, because the history does not contain retried failed responses.
      this.messages = [...this.messages.filter(({ id }) => !this.#ofRun.has(id)), ...event.messages]
      this.approvals = event.pendingApprovals ?? []
      this.clientCalls = event.pendingClientCalls ?? []
      this.#ofRun.clear()
    }
  }
}

/** Returns the history before the response that contains this message. Default: the last response. */
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

/** Keeps the whole history, because the client has just loaded it. */
export const asRead: Rewind = (messages) => messages

function rewindOf({ continuationKind }: AgentStartEvent): Rewind {
  return continuationKind.kind === 'rerun' ? beforeAnswer() : asRead
}

function withMessage(messages: readonly AgentMessage[], message: AgentMessage): readonly AgentMessage[] {
  const at = messages.findLastIndex(({ id }) => id === message.id)
  return at < 0 ? [...messages, message] : messages.with(at, message)
}
