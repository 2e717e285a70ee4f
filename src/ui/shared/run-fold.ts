import { type AssistantMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent, MessageEndEvent, ParallelLoopEndEvent } from '../../contract/run/event.ts'
import type { SubAgentRef } from '../../contract/run/run-facts.ts'
import { isCut } from './answers.ts'
import type { RunEncoder } from './encoding.ts'
import type { MessageFold } from './message-fold.ts'
import type { CallEvent, OpenCalls, WaitingForPerson } from './open-calls.ts'

/** Start of a stream within a run. */
interface ResponseStart {
  /** The message after which the stream begins. Default: it begins with the run. */
  replyTo?: string | undefined
  /** Ids of messages that the client itself has sent: they are not part of the stream. */
  given?: ReadonlySet<string>
}

/**
 * Folds the events of a run into transitions. An encoder maps each to frames: those of the run by overriding the methods below, those of blocks
 * and calls with its `MessageFold` and its `OpenCalls`.
 *
 * **Contract**
 * - Frames are pushed to `out`. After `isEnded` events are ignored.
 * - A message starts (`begun`), grows in `message`, and ends (`answered`). Its calls are open then, unless it was cut off.
 * - Of branches, only the selected one is sent, whole, when it is selected; requests of its calls look like those of sub-agents.
 */
export abstract class RunFold<Frame> implements RunEncoder<Frame> {
  protected abstract readonly message: MessageFold
  protected abstract readonly calls: OpenCalls
  protected out: Frame[] = []
  protected isEnded = false
  readonly #given: ReadonlySet<string>
  /** Until this message arrives, the client has everything. */
  #replyTo: string | undefined
  /** Branches of the prompt, and the ends of finished ones. */
  readonly #branches = new Map<string, AgentEndEvent | undefined>()

  constructor({ replyTo, given = new Set() }: ResponseStart) {
    this.#replyTo = replyTo
    this.#given = given
  }

  /** A model message starts. */
  protected begun?(messageId: string, loopId: string): void
  /** A model message is complete, and so is its output. */
  protected abstract answered(messageId: string, message: AssistantMessage): void
  /** A message of another role. */
  protected heard?(event: MessageEndEvent): void
  /** Called before output about a call of the run itself. */
  protected called?(event: CallEvent): void
  protected turnEnded?(): void
  protected abstract ended(event: AgentEndEvent): void
  /** An event that is not a transition. */
  protected other?(event: AgentEvent): void
  /** An event of a branch, before the fold handles it. */
  protected branched?(event: AgentEvent): void
  /** Called before the output of a branch. */
  protected choosing?(event: ParallelLoopEndEvent): void
  /** A branch was sent, and its end is the end of the run; `undefined` if its end was missed. */
  protected abstract chosen(end: AgentEndEvent | undefined): void
  /** Earlier output was sent in another stream. */
  protected abstract forget(): void
  /** The message that the stream replies to has arrived. */
  protected replied?(): void
  /** The stream ends while the run waits. */
  protected abstract suspended(): void
  /** The stream ends without the end of the run. */
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
        else this.heard?.(event)
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

  /** Sends the selected branch whole. A run of branches has no `agentEnd`. */
  #choose(event: ParallelLoopEndEvent): void {
    this.choosing?.(event)
    const end = this.#branches.get(event.selectedLoopId)
    for (const message of end?.messages ?? []) {
      if (message.role === 'assistant') {
        this.turnEnded?.()
        this.#answered(message.id, message, event.selectedLoopId)
      } else if (message.role === 'toolResult') this.calls.result({ ...message, result: message })
    }
    this.chosen(end)
  }
}

/** Handles an approval event of a branch like one of a sub-agent, because no visible message contains the call. */
function asOfSubAgent<E extends { loopId: string; subAgent?: SubAgentRef }>(event: E): E & { subAgent: SubAgentRef } {
  const { loopId, subAgent = { toolCallId: loopId, toolName: 'branch', loopId } } = event
  return { ...event, subAgent }
}
