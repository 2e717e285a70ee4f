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
 * Whether a run waits for a person, or for what a page runs, so that a client that answers in a new request has to be let go:
 * - `certain`: every open call has been asked about, and nothing else happens.
 * - `likely`: besides, there are calls that have neither begun nor been asked about. Their order holds them back, or they begin in a moment; or
 *   the loop of a sub-agent asks, which may do other things meanwhile. It is certain once no event came for a while.
 */
export type WaitingForPerson = 'no' | 'likely' | 'certain'

/** What a call has come to. */
export type CallResult = Pick<ToolExecutionEndEvent, 'toolCallId' | 'result' | 'isError' | 'outcome'>

/** A call without a result. */
export interface OpenCall {
  /** Unique among the open calls: that of a call of the run itself is its id. */
  readonly key: string
  readonly toolCallId: string
  readonly toolName: string
  /** The arguments as they were shown last. */
  input: JsonObject
  state: 'written' | 'asked' | 'decided' | 'running'
  /** Whether the client has seen it with these arguments. */
  isShown: boolean
  /** Of the request that waits, or was decided. */
  argumentsHash?: string
  /** A page is to run it. */
  isForPage?: boolean
  /** A person said no, or nobody said anything. */
  refusal?: { reason?: string }
  /** The call of the run whose sub-agent wants to make this one. */
  parent?: string
}

/** What a run reports of a call. */
export type CallEvent =
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | ClientCallRequestedEvent
  | ClientCallResolvedEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent

/** A call as the model wrote it. */
export type WrittenCall = Pick<ToolCallContent, 'id' | 'name' | 'arguments'>

/** A call that is over, if it was open, and what its sub-agent asked about. */
export interface EndedCall {
  call: OpenCall | undefined
  asked: OpenCall[]
}

/**
 * Folds what a run reports of calls: those of a message that have no result yet, and the requests of sub-agents. O(open calls). An encoder overrides
 * the `show…` methods: each tells one transition.
 */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>()

  /** A person is asked about `call`, which still is as it was shown last. */
  protected showAsked?(event: ApprovalRequestedEvent, call: OpenCall): void
  /** `call` is `undefined` when nobody was asked about it. */
  protected showDecided?(event: ApprovalResolvedEvent, call: OpenCall | undefined): void
  /** `call` is `undefined` for a call of a sub-agent, which only clients of our own protocol run. */
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

  /** A call has its result: it and what its sub-agent asked about are forgotten. */
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

  /** The model has made a call, and the client has seen it, unless it is shown later. */
  written({ id, name, arguments: input }: WrittenCall, isShown = true): void {
    this.#put({ key: id, toolCallId: id, toolName: name, input, state: 'written', isShown })
  }

  /** The call that is meant; made where it is not known: it is that of a sub-agent, or its answer was not seen. */
  of({ toolCallId, toolName, args: input, subAgent }: Omit<PendingApproval, 'argumentsHash'>): OpenCall {
    const key = keyOf(toolCallId, subAgent)
    const parent = subAgent === undefined ? {} : { parent: subAgent.toolCallId }
    return this.#calls.get(key) ?? this.#put({ key, toolCallId, toolName, input, state: 'written', isShown: false, ...parent })
  }

  /** A run before this one asked about it, and nobody answered. This run waits only once it asks again. */
  left(pending: PendingApproval): void {
    Object.assign(this.of(pending), { input: pending.args, argumentsHash: pending.argumentsHash })
  }

  /** A person is asked about `call`. */
  asked(call: OpenCall, { args: input, argumentsHash }: Pick<ApprovalRequestedEvent, 'args' | 'argumentsHash'>): void {
    Object.assign(call, { state: 'asked', input, argumentsHash })
    delete call.refusal
  }

  /** A page is to run `call`. */
  handedOut(call: OpenCall, { args: input, argumentsHash }: Pick<ClientCallRequestedEvent, 'args' | 'argumentsHash'>): void {
    Object.assign(call, { state: 'asked', isForPage: true, input, argumentsHash })
    delete call.refusal
  }

  /** A page has answered, or none is expected to any more. */
  #handedBack({ toolCallId, subAgent }: ClientCallResolvedEvent): void {
    const call = this.#calls.get(keyOf(toolCallId, subAgent))
    if (call?.isForPage !== true) return
    call.state = 'decided'
    call.isForPage = false
  }

  /** The call that `event` decides about, as it is then; `undefined` for one that was not asked about. */
  #decided({ toolCallId, subAgent, approved, reason }: ApprovalResolvedEvent): OpenCall | undefined {
    const call = this.#calls.get(keyOf(toolCallId, subAgent))
    if (call?.state !== 'asked') return undefined
    call.state = 'decided'
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
      // What was decided about a sub-agent's call goes on inside that sub-agent.
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

/** The calls of the last answer that have no result. */
export function openCallsOf(history: readonly AgentMessage[]): ToolCallContent[] {
  const answered = new Set<string>()
  for (const message of history.toReversed()) {
    if (message.role === 'user') return []
    if (message.role === 'toolResult') answered.add(message.toolCallId)
    if (message.role === 'assistant') return isCut(message) ? [] : callsToAnswer(message.content).filter(({ id }) => !answered.has(id))
  }
  return []
}
