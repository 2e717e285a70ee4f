import { type AgentMessage, lastSaidAt } from '../contract/message/message.ts'
import type { AgentEvent, AgentStartEvent } from '../contract/run/event.ts'
import { goesBack, type PendingApproval, type PendingClientCall } from '../contract/run/run-facts.ts'

/** What goes back in the history before a run begins. */
export type Rewind = (messages: readonly AgentMessage[]) => readonly AgentMessage[]

/** What a run has left waiting. */
interface Waiting {
  approvals: readonly PendingApproval[]
  clientCalls: readonly PendingClientCall[]
}

/** What was said, as far as this side has heard, and where in the session that is. */
export class Conversation {
  messages: readonly AgentMessage[] = []
  /** Whether more was said before these. */
  hasEarlier = false
  /** Calls that a run has left waiting. */
  approvals: readonly PendingApproval[] = []
  /** Calls for pages that a run has left waiting. */
  clientCalls: readonly PendingClientCall[] = []
  /** The loop from whose end the next run goes on, where that is not the newest one. */
  place: string | undefined
  /** The loop that it ends with, where that is known. */
  #lastLoopId: string | undefined
  /** Of the run that is on. */
  #ofRun = new Set<string>()

  /** What the server has. */
  replace({ messages, hasEarlier, approvals, clientCalls }: Waiting & { messages: readonly AgentMessage[]; hasEarlier: boolean }): void {
    this.messages = messages
    this.hasEarlier = hasEarlier
    this.approvals = approvals
    this.clientCalls = clientCalls
  }

  /** What was said before `first`, unless another message begins it by now. */
  begins({ messages, hasEarlier }: { messages: readonly AgentMessage[]; hasEarlier: boolean }, first: string): readonly AgentMessage[] {
    if (this.messages[0]?.id !== first) return []
    this.messages = [...messages, ...this.messages]
    this.hasEarlier = hasEarlier
    return messages
  }

  /** A history without what is before the first message here, where nobody has asked for that yet. */
  fromHereOn<Read extends { messages: AgentMessage[]; hasEarlier: boolean }>(history: Read): Read {
    const at = this.hasEarlier ? history.messages.findIndex(({ id }) => id === this.messages[0]?.id) : 0
    return at <= 0 ? history : { ...history, messages: history.messages.slice(at), hasEarlier: true }
  }

  /** What the run before has left waiting. */
  get waiting(): Waiting {
    const { approvals, clientCalls } = this
    return { approvals, clientCalls }
  }

  /** It ends with this loop; `place` says that the next run goes on from there though there is a newer one. */
  endsWith(loopId: string | undefined, place?: string): void {
    this.#lastLoopId = loopId
    this.place = place
  }

  /** Whether nothing was heard after this loop. */
  isAt(loopId: string): boolean {
    return this.#lastLoopId === loopId
  }

  /** Whether the run that somebody else begins with `start` goes on from something else than what was heard here. */
  isLeftBy({ continuationKind, loopId, parentLoopId }: AgentStartEvent): boolean {
    if (this.place !== undefined) return true
    const lastLoopId = this.#lastLoopId
    if (loopId === lastLoopId) return false
    return goesBack(continuationKind) || (lastLoopId !== undefined && parentLoopId !== lastLoopId)
  }

  /** Another run begins; of the one before nothing more will come. */
  begin(): void {
    this.#ofRun.clear()
  }

  /** Follows a run. `rewind` is what its beginning takes back. */
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
      // What failed and was said again is not in the history.
      this.messages = [...this.messages.filter(({ id }) => !this.#ofRun.has(id)), ...event.messages]
      this.approvals = event.pendingApprovals ?? []
      this.clientCalls = event.pendingClientCalls ?? []
      this.#ofRun.clear()
    }
  }
}

/** Without the answer that the message of this id belongs to, by default the last one, and what followed. */
export function beforeAnswer(messageId?: string): Rewind {
  return (messages) => {
    const until = messageId === undefined ? messages.length : messages.findIndex(({ id }) => id === messageId)
    return until < 0 ? messages : messages.slice(0, lastSaidAt(messages, until) + 1)
  }
}

/** Without the message of this id, and what followed. */
export function before(messageId: string): Rewind {
  return (messages) => {
    const at = messages.findIndex(({ id }) => id === messageId)
    return at < 0 ? messages : messages.slice(0, at)
  }
}

/** All of it: what the run goes on from was read. */
export const asRead: Rewind = (messages) => messages

function rewindOf({ continuationKind }: AgentStartEvent): Rewind {
  return continuationKind.kind === 'rerun' ? beforeAnswer() : asRead
}

function withMessage(messages: readonly AgentMessage[], message: AgentMessage): readonly AgentMessage[] {
  const at = messages.findLastIndex(({ id }) => id === message.id)
  return at < 0 ? [...messages, message] : messages.with(at, message)
}
