import { applicationPartOf, type DataPart, dataPartOf } from '../../contract/message/data-part.ts'
import { type AssistantMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent, DataEvent, MessageEndEvent, ParallelLoopEndEvent } from '../../contract/run/event.ts'
import type { SubAgentRef } from '../../contract/run/run-facts.ts'
import { isCut } from './answers.ts'
import type { RunEncoder } from './encoding.ts'
import type { MessageFold } from './message-fold.ts'
import type { CallEvent, OpenCalls, WaitingForPerson } from './open-calls.ts'

/** Position of a stream within a run. */
interface ResponseStart {
  /** Message after which the stream begins. By default, the stream begins with the run. */
  replyTo?: string | undefined
  /** Ids of messages that the client sent. The stream excludes these messages. */
  given?: ReadonlySet<string>
}

/** A data part of a stream. */
export type SentPart = DataPart & Pick<DataEvent, 'transient'>

/**
 * Folds run events into transitions that an encoder maps to frames. The encoder overrides the methods below for run transitions, and
 * provides a `MessageFold` and `OpenCalls` for blocks and calls.
 *
 * **Contract**
 * - Frames are pushed to `out`. Events after `isEnded` are ignored.
 * - A message starts (`begun`), streams through `message`, and ends (`answered`). Its calls are then open, unless the message was
 *   truncated.
 * - Only the selected branch is sent, as a whole when it is selected. Requests of a branch's calls are handled like those of sub-agents.
 */
export abstract class RunFold<Frame> implements RunEncoder<Frame> {
  protected abstract readonly message: MessageFold
  protected abstract readonly calls: OpenCalls
  protected out: Frame[] = []
  protected isEnded = false
  readonly #given: ReadonlySet<string>
  /** Message that the stream waits for. The client already has all earlier content. */
  #replyTo: string | undefined
  /** Branches of the prompt, and the `agentEnd` events of finished branches. */
  readonly #branches = new Map<string, AgentEndEvent | undefined>()

  constructor({ replyTo, given = new Set() }: ResponseStart) {
    this.#replyTo = replyTo
    this.#given = given
  }

  /** A model message starts. */
  protected begun?(messageId: string, loopId: string): void
  /** A model message is complete, and its output has been sent. */
  protected abstract answered(messageId: string, message: AssistantMessage): void
  /** A message of another role. */
  protected heard?(event: MessageEndEvent): void
  /** A data part from an event or from an extension message of the application. */
  protected data?(part: SentPart): void
  /** Called before output about one of the run's own calls. */
  protected called?(event: CallEvent): void
  protected turnEnded?(): void
  protected abstract ended(event: AgentEndEvent): void
  /** An event that is not a transition. */
  protected other?(event: AgentEvent): void
  /** An event of a branch, before the fold handles it. */
  protected branched?(event: AgentEvent): void
  /** Called before a branch's output. */
  protected choosing?(event: ParallelLoopEndEvent): void
  /** The selected branch was sent. Its `end` is the end of the run. `undefined` if it was missed. */
  protected abstract chosen(end: AgentEndEvent | undefined): void
  /** Starts a new stream. An earlier stream contained the previous output. */
  protected abstract forget(): void
  /** The message that the stream replies to has arrived. */
  protected replied?(): void
  /** The stream ends while the run waits. */
  protected abstract suspended(): void
  /** The stream ends before the run. */
  protected abstract brokenOff(cause: { error: unknown } | undefined): void

  encode(event: AgentEvent): Frame[] {
    if (this.isEnded) return []
    this.out = []
    this.take(event)
    if (this.#replyTo !== undefined && !this.isEnded) this.#passOver(event)
    return this.out
  }

  skip(event: AgentEvent): void {
    this.encode(event)
    this.forget()
  }

  #passOver(event: AgentEvent): void {
    this.forget()
    this.out = []
    if (event.type !== 'messageEnd' || event.messageId !== this.#replyTo) return
    this.#replyTo = undefined
    this.replied?.()
  }

  get waiting(): WaitingForPerson {
    return this.message.live !== undefined || this.isEnded ? 'no' : this.calls.waiting
  }

  suspend(): Frame[] {
    return this.#last(() => this.suspended())
  }

  end(): Frame[] {
    return this.#last(() => this.brokenOff(undefined))
  }

  fail(error: unknown): Frame[] {
    return this.#last(() => this.brokenOff({ error }))
  }

  #last(write: () => void): Frame[] {
    this.out = []
    if (!this.isEnded) write()
    this.isEnded = true
    return this.out
  }

  protected take(event: AgentEvent): void {
    if (event.type === 'messageUpdate') this.message.delta(event)
    else if (this.#branches.has(event.loopId)) this.#takeOfBranch(event)
    else this.#takeOfRun(event)
  }

  #takeOfRun(event: AgentEvent): void {
    switch (event.type) {
      case 'messageStart':
        if (event.message.role === 'assistant') this.#begin(event.messageId, event.loopId)
        return
      case 'messageEnd':
        if (event.message.role === 'assistant') this.#answered(event.messageId, event.message, event.loopId)
        else this.#heard(event)
        return
      case 'data':
        this.data?.(event)
        return
      case 'approvalRequested':
      case 'approvalResolved':
      case 'clientCallRequested':
      case 'clientCallResolved':
      case 'toolExecutionStart':
      case 'toolExecutionUpdate':
      case 'toolExecutionEnd':
        this.called?.(event)
        this.calls.take(event)
        return
      case 'turnEnd':
        this.turnEnded?.()
        return
      case 'agentEnd':
        this.ended(event)
        return
      case 'parallelLoopEnd':
        this.#choose(event)
        return
      default:
        if (event.type === 'parallelLoopStart') for (const loopId of event.loopIds) this.#branches.set(loopId, undefined)
        this.other?.(event)
    }
  }

  #heard(event: MessageEndEvent): void {
    this.heard?.(event)
    const part = this.#given.has(event.messageId) ? undefined : applicationPartOf(event.message)
    if (part !== undefined) this.data?.(part)
  }

  #begin(messageId: string, loopId: string): void {
    if (this.#given.has(messageId)) return
    this.calls.clear()
    this.message.begin(messageId)
    this.begun?.(messageId, loopId)
  }

  #answered(messageId: string, message: AssistantMessage, loopId: string): void {
    if (this.#given.has(messageId)) return
    if (this.message.live !== messageId) this.#begin(messageId, loopId)
    this.message.complete(message)
    if (!isCut(message)) this.#openCalls(message)
    this.answered(messageId, message)
  }

  #openCalls({ content }: AssistantMessage): void {
    const open = content.filter((block) => block.type !== 'serviceTool' || block.status === 'running')
    for (const call of callsToAnswer(open)) this.calls.written(call)
  }

  #takeOfBranch(event: AgentEvent): void {
    this.branched?.(event)
    if (event.type === 'agentEnd') this.#branches.set(event.loopId, event)
    else if (event.type === 'approvalRequested' || event.type === 'approvalResolved') this.calls.take(asOfSubAgent(event))
    else if (event.type === 'toolExecutionEnd') {
      const toolCallId = `${event.loopId}/${event.toolCallId}`
      if (this.calls.get(toolCallId) !== undefined) this.calls.result({ ...event, toolCallId })
    }
  }

  /** Sends the complete selected branch. A run of branches has no `agentEnd`. */
  #choose(event: ParallelLoopEndEvent): void {
    this.choosing?.(event)
    const end = this.#branches.get(event.selectedLoopId)
    for (const message of end?.messages ?? []) {
      if (message.role === 'assistant') {
        this.turnEnded?.()
        this.#answered(message.id, message, event.selectedLoopId)
      } else if (message.role === 'toolResult') this.calls.result({ ...message, result: message })
      const part = dataPartOf(message)
      if (part !== undefined) this.data?.(part)
    }
    this.chosen(end)
  }
}

/** Handles a branch's approval event like a sub-agent's, because no visible message contains the call. */
function asOfSubAgent<E extends { loopId: string; subAgent?: SubAgentRef }>(event: E): E & { subAgent: SubAgentRef } {
  const { loopId, subAgent = { toolCallId: loopId, toolName: 'branch', loopId } } = event
  return { ...event, subAgent }
}
