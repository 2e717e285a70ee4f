import type { JsonObject } from '../../contract/json.ts'
import type { ToolCallContent } from '../../contract/message/content.ts'
import { type AgentMessage, callsToAnswer } from '../../contract/message/message.ts'
import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  ClientCallRequestedEvent,
  ClientCallResolvedEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../../contract/run/call-event.ts'
import type { PendingApproval, SubAgentRef } from '../../contract/run/run-facts.ts'
import { isCut } from './answers.ts'

/**
 * Whether a run waits for a user or client, so that the stream must end before the client can send its request.
 * - `certain`: every open call was requested, and no other work continues.
 * - `likely`: some calls have neither started nor been requested, because they are held back or about to start; or a sub-agent that may do
 *   other work made the request. Becomes certain after some time without events.
 */
export type WaitingForPerson = 'no' | 'likely' | 'certain'

/** A call's result. */
export type CallResult = Pick<ToolExecutionEndEvent, 'toolCallId' | 'result' | 'isError' | 'outcome'>

/** A call without a result. */
export interface OpenCall {
  /** Unique among open calls. Equals the call id for the run's own calls. */
  readonly key: string
  readonly toolCallId: string
  readonly toolName: string
  /** The arguments as last sent. */
  input: JsonObject
  state: 'written' | 'asked' | 'decided' | 'running'
  /** Whether the client received the call with these arguments. */
  isShown: boolean
  /** Hash of the pending or decided request. */
  argumentsHash?: string
  /** Whether a client runs the call. */
  isForPage?: boolean
  /** Set if the call was denied or the request timed out. */
  refusal?: { reason?: string }
  /** Id of the run's call whose sub-agent makes this call. */
  parent?: string
}

/** An event about a call. */
export type CallEvent =
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | ClientCallRequestedEvent
  | ClientCallResolvedEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent

/** A call with the model's arguments. */
export type WrittenCall = Pick<ToolCallContent, 'id' | 'name' | 'arguments'>

/** An ended call, and the open requests of its sub-agent. */
export interface EndedCall {
  call: OpenCall | undefined
  asked: OpenCall[]
}

/**
 * Tracks open calls: calls of messages, and requests of sub-agents. Stores only calls without results. Encoders override the `show…`
 * methods, one per transition.
 */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>()

  /** Shows an approval request. Called before `call` is updated. */
  protected showAsked?(event: ApprovalRequestedEvent, call: OpenCall): void
  /** Shows a decision. `call` is `undefined` without a request. */
  protected showDecided?(event: ApprovalResolvedEvent, call: OpenCall | undefined): void
  /** Shows a client call. `call` is `undefined` for a sub-agent's call, which only native clients run. */
  protected showHandedOut?(event: ClientCallRequestedEvent, call: OpenCall | undefined): void
  protected showRunning?(event: ToolExecutionStartEvent, call: OpenCall): void
  protected showUpdate?(event: ToolExecutionUpdateEvent, call: OpenCall | undefined): void
  protected showResult?(result: CallResult, ended: EndedCall): void

  take(event: CallEvent): void {
    switch (event.type) {
      case 'approvalRequested': {
        const call = this.of(event)
        this.showAsked?.(event, call)
        this.asked(call, event)
        return
      }
      case 'approvalResolved': {
        const call = this.#decided(event)
        this.showDecided?.(event, call)
        return
      }
      case 'clientCallRequested': {
        const call = event.subAgent === undefined ? this.of(event) : undefined
        if (call !== undefined) this.handedOut(call, event)
        this.showHandedOut?.(event, call)
        return
      }
      case 'clientCallResolved':
        this.#handedBack(event)
        return
      case 'toolExecutionStart': {
        const { toolCallId, toolName, args } = event
        const call = this.of({ toolCallId, toolName, args })
        this.showRunning?.(event, call)
        if (call.refusal === undefined) call.state = 'running'
        return
      }
      case 'toolExecutionUpdate':
        this.showUpdate?.(event, this.get(event.toolCallId))
        return
      case 'toolExecutionEnd':
        this.result(event)
    }
  }

  /** Ends a call with its result, and drops the requests of its sub-agent. */
  result(result: CallResult): void {
    const key = result.toolCallId
    const call = this.#calls.get(key)
    this.#calls.delete(key)
    const asked = [...this.#calls.values()].filter(({ parent }) => parent === key)
    for (const each of asked) this.#calls.delete(each.key)
    this.showResult?.(result, { call, asked })
  }

  get(key: string): OpenCall | undefined {
    return this.#calls.get(key)
  }

  values(): Iterable<OpenCall> {
    return this.#calls.values()
  }

  /** Adds a call by the model. `isShown`: the client has received it. */
  written({ id, name, arguments: input }: WrittenCall, isShown = true): void {
    this.#put({ key: id, toolCallId: id, toolName: name, input, state: 'written', isShown })
  }

  /** Returns the call. Creates an unknown call, which belongs to a sub-agent or to a response that this encoder did not process. */
  of({ toolCallId, toolName, args: input, subAgent }: Omit<PendingApproval, 'argumentsHash'>): OpenCall {
    const key = keyOf(toolCallId, subAgent)
    const parent = subAgent === undefined ? {} : { parent: subAgent.toolCallId }
    return this.#calls.get(key) ?? this.#put({ key, toolCallId, toolName, input, state: 'written', isShown: false, ...parent })
  }

  /** Adds an unanswered request from an earlier run. This run waits for it only after requesting it again. */
  left(pending: PendingApproval): void {
    Object.assign(this.of(pending), { input: pending.args, argumentsHash: pending.argumentsHash })
  }

  /** Adds an approval request for `call`. */
  asked(call: OpenCall, { args: input, argumentsHash }: Pick<ApprovalRequestedEvent, 'args' | 'argumentsHash'>): void {
    Object.assign(call, { state: 'asked', input, argumentsHash })
    delete call.refusal
  }

  /** Adds a client call. */
  handedOut(call: OpenCall, { args: input, argumentsHash }: Pick<ClientCallRequestedEvent, 'args' | 'argumentsHash'>): void {
    Object.assign(call, { state: 'asked', isForPage: true, input, argumentsHash })
    delete call.refusal
  }

  /** Ends a client call that has a result, or whose request was withdrawn. */
  #handedBack({ toolCallId, subAgent }: ClientCallResolvedEvent): void {
    const call = this.#calls.get(keyOf(toolCallId, subAgent))
    if (call?.isForPage !== true) return
    call.state = 'decided'
    call.isForPage = false
  }

  /** Applies a decision and returns its call. `undefined` without a request. */
  #decided({ toolCallId, subAgent, approved, reason, edited }: ApprovalResolvedEvent): OpenCall | undefined {
    const call = this.#calls.get(keyOf(toolCallId, subAgent))
    if (call?.state !== 'asked') return undefined
    call.state = 'decided'
    if (edited !== undefined) call.input = edited.arguments
    if (!approved) call.refusal = reason === undefined ? {} : { reason }
    return call
  }

  clear(): void {
    this.#calls.clear()
  }

  get waiting(): WaitingForPerson {
    let answer: WaitingForPerson = 'no'
    const asking = new Set<string>()
    for (const call of this.#calls.values()) {
      if (call.state !== 'asked') continue
      answer = 'certain'
      if (call.parent !== undefined) asking.add(call.parent)
    }
    if (answer === 'no') return answer
    for (const { key, state, parent } of this.#calls.values()) {
      if (state === 'asked') continue
      // A sub-agent's decided call continues within the sub-agent.
      if (parent === undefined && (state === 'decided' || (state === 'running' && !asking.has(key)))) return 'no'
      answer = 'likely'
    }
    return answer
  }

  #put(call: OpenCall): OpenCall {
    this.#calls.set(call.key, call)
    return call
  }
}

function keyOf(toolCallId: string, subAgent: SubAgentRef | undefined): string {
  return subAgent === undefined ? toolCallId : `${subAgent.loopId}/${toolCallId}`
}

/** Returns the calls of the last response without a result. */
export function openCallsOf(history: readonly AgentMessage[]): ToolCallContent[] {
  const answered = new Set<string>()
  for (const message of history.toReversed()) {
    if (message.role === 'user') return []
    if (message.role === 'toolResult') answered.add(message.toolCallId)
    if (message.role === 'assistant') return isCut(message) ? [] : callsToAnswer(message.content).filter(({ id }) => !answered.has(id))
  }
  return []
}
