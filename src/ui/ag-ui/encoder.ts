import { waitingApprovals, waitingClientCalls } from '../../base/questions.ts'
import { PhiError } from '../../contract/errors.ts'
import { type AgentMessage, type AssistantMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEndEvent, AgentEvent, MessageEndEvent, MessageUpdateEvent } from '../../contract/run/event.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { BranchedLoops, isCut, ofBranch } from '../shared/answers.ts'
import { isWithheld } from '../shared/encoding.ts'
import { type CallResult, OpenCalls, openCallsOf, type WaitingForPerson } from '../shared/open-calls.ts'
import type { AgUiEvent, AgUiInterrupt } from './ag-ui-event.ts'
import { type AgUiEncoder, type AgUiEncoderOptions, encoderOptions } from './encoder-contract.ts'
import { interruptOf } from './interrupts.ts'
import { MessageEvents } from './message-events.ts'
import { RunFrame } from './run-frame.ts'
import { bodyOf, SubAgentEvents } from './sub-agent-events.ts'
import { CallIds, notRun, resultOf, snapshotOf, toAgUiMessages, userMessageOf } from './to-ag-ui-messages.ts'

/**
 * Encodes a run for clients of AG-UI 1.0.
 *
 * **Contract**
 * - Give it every event from the first one of the run. One encoder per response; what it makes begins with `RUN_STARTED` and ends with
 *   `RUN_FINISHED` or `RUN_ERROR`. Every start has its end, and no delta is empty.
 * - `RUN_STARTED` waits for what the person said and has it in `input.messages`: a client that said it does not get it twice, another one sees it.
 * - Ids are those of `toAgUiMessages`. Messages of a sub-agent are shown when they end.
 * - With `sharedState` the state comes first, and each later change of it as `STATE_DELTA`.
 * - Arguments that were streamed and then repaired are replaced by a `MESSAGES_SNAPSHOT` of the conversation so far.
 * - An event without a counterpart is `CUSTOM` with a `phi.` name. The encoder keeps the messages of the run, the open block and the open calls. Pure.
 *   Throws only for options that there are not.
 *
 * Source: docs/concepts/ui-protocols.md
 *
 * @example
 * ```ts
 * const encoder = agUiEncoder({ history: agent.messages, threadId, runId })
 * for await (const event of run) for (const each of encoder.encode(event)) write(agUiSse(each))
 * ```
 */
export function agUiEncoder(options: AgUiEncoderOptions = {}): AgUiEncoder {
  checkOptions(options, encoderOptions)
  return new Encoder(options)
}

class Encoder implements AgUiEncoder {
  readonly #options: AgUiEncoderOptions
  readonly #ids = new CallIds()
  readonly #calls = new OpenCalls()
  readonly #branches = new BranchedLoops()
  readonly #frame: RunFrame
  readonly #messages = new MessageEvents(this.#ids, (event) => this.#frame.send(event))
  readonly #subAgents: SubAgentEvents
  /** The conversation so far, by the ids of its messages. */
  readonly #said = new Map<string, AgentMessage>()
  /** Until this message is heard, the client has everything. */
  #replyTo: string | undefined
  /** That branches have begun, until what was said is told. */
  #announced: AgentEvent | undefined

  constructor(options: AgUiEncoderOptions) {
    const { history = [], restate = false } = options
    const { approvals = waitingApprovals(history), clientCalls = waitingClientCalls(history) } = options
    this.#options = options
    this.#replyTo = options.replyTo
    for (const message of history) this.#said.set(message.id, message)
    const shown = toAgUiMessages(history, this.#ids)
    this.#frame = new RunFrame(options, restate ? shown : undefined)
    this.#subAgents = new SubAgentEvents(this.#frame.counts, (event) => this.#frame.send(event))
    for (const call of openCallsOf(history)) this.#calls.written(call)
    for (const pending of [...approvals, ...clientCalls]) this.#calls.left(pending)
  }

  encode(event: AgentEvent): AgUiEvent[] {
    const events = this.#frame.collect(() => {
      if (event.type === 'messageUpdate') this.#messages.delta(event.messageId, event.delta)
      else this.#take(event)
    })
    if (this.#replyTo === undefined) return events
    const isHeard = event.type === 'messageEnd' && event.messageId === this.#replyTo
    if (isHeard || this.#frame.isEnded) this.#replyTo = undefined
    if (this.#frame.isEnded) return events
    this.#forget()
    return []
  }

  skip(event: AgentEvent): void {
    this.encode(event)
    this.#forget()
  }

  #forget(): void {
    this.#frame.forget()
    this.#messages.forget()
    this.#subAgents.forget()
  }

  get waiting(): WaitingForPerson {
    return this.#messages.isStreaming || this.#frame.isEnded ? 'no' : this.#calls.waiting
  }

  suspend(): AgUiEvent[] {
    return this.#frame.collect(() => {
      this.#subAgents.suspend()
      this.#finish(this.#pause())
    })
  }

  end(): AgUiEvent[] {
    return this.#frame.collect(() => this.#fail('The events of the run have ended before the run. Connect again.', 'interrupted'))
  }

  fail(error: unknown): AgUiEvent[] {
    const isOurs = PhiError.isInstance(error)
    return this.#frame.collect(() =>
      this.#fail(isOurs ? error.message : 'The events of the run could not be read on.', isOurs ? error.code : 'stream'),
    )
  }

  #take(event: Exclude<AgentEvent, MessageUpdateEvent>): void {
    this.#frame.nameAfter(event)
    // The state is the session's, whichever branch changed it.
    if (event.type === 'sharedStateChanged') {
      if (!this.#frame.stateChanged(event)) this.#note(event)
    } else if (this.#branches.has(event)) this.#takeOfBranch(event)
    else this.#takeOfRun(event)
  }

  #takeOfRun(event: Exclude<AgentEvent, MessageUpdateEvent>): void {
    switch (event.type) {
      case 'agentStart':
        this.#frame.form = event.configSnapshot.output
        return
      case 'inputRejected':
      case 'turnRequest':
        return
      case 'turnStart':
        this.#frame.beginStep(`turn ${event.turnIndex}`)
        return
      case 'turnEnd':
        this.#frame.endStep()
        return
      case 'messageStart':
        if (event.message.role === 'assistant') this.#begin(event.messageId)
        return
      case 'messageEnd':
        this.#messageEnded(event)
        return
      case 'agentEnd':
        this.#ended(event)
        return
      case 'parallelLoopStart':
        this.#branches.begin(event.loopIds)
        this.#announced = event
        return
      case 'parallelLoopEnd':
        this.#note(event)
        this.#branchChosen(event.selectedLoopId)
        return
      case 'childEvent':
        if (!isWithheld(event, {})) this.#subAgents.take(event, this.#ids.current(event.toolCallId))
        return
      default:
        this.#takeOfCall(event)
    }
  }

  #takeOfCall(event: AgentEvent): void {
    switch (event.type) {
      case 'approvalRequested':
        this.#calls.asked(this.#calls.of(event), event)
        this.#note(event)
        return
      case 'approvalResolved':
        this.#calls.resolved(event)
        this.#note(event)
        return
      case 'clientCallRequested':
        // What a sub-agent asks of pages is for those that speak our own protocol: here it has no call of the run.
        if (event.subAgent === undefined) this.#calls.handedOut(this.#calls.of(event), event)
        this.#note(event)
        return
      case 'clientCallResolved':
        this.#calls.handedBack(event)
        this.#note(event)
        return
      case 'toolExecutionStart': {
        const { toolCallId, toolName, args } = event
        const call = this.#calls.of({ toolCallId, toolName, arguments: args })
        if (call.refusal === undefined) call.state = 'running'
        return
      }
      case 'toolExecutionEnd':
        this.#callEnded(event)
        return
      case 'backgroundStart':
        this.#subAgents.goOn(event.toolCallId)
        this.#note(event)
        return
      case 'backgroundEnd':
        this.#subAgents.ended(event.toolCallId)
        this.#note(event)
        return
      default:
        // Notes, and events of a newer version.
        this.#note(event)
    }
  }

  #callEnded({ toolCallId, result, isError, outcome }: CallResult): void {
    this.#subAgents.callEnded(toolCallId)
    const { call } = this.#calls.ended(toolCallId)
    // What was made up before this run is in the history that was shown.
    if (call === undefined && outcome !== undefined) return
    const told = { content: result.content, isError, ...(outcome !== undefined && { outcome }) }
    const { id, ...shown } = resultOf(this.#ids.current(toolCallId), told)
    if (this.#options.sentResults?.includes(shown.toolCallId)) return
    this.#frame.send({ type: 'TOOL_CALL_RESULT', messageId: id, ...shown })
  }

  /** What has no counterpart. */
  #note(event: AgentEvent): void {
    this.#frame.send({ type: 'CUSTOM', name: `phi.${event.type}`, value: bodyOf(event) })
  }

  #begin(messageId: string): void {
    this.#calls.clear()
    this.#messages.begin(messageId)
  }

  #messageEnded({ messageId, message }: MessageEndEvent): void {
    this.#said.set(messageId, { ...message, id: messageId })
    if (message.role === 'assistant') this.#answered(messageId, message)
    if (message.role !== 'user') return
    const said = userMessageOf({ ...message, id: messageId })
    if (this.#frame.isBeginning) {
      this.#calls.clear()
      this.#frame.beginWith(said)
    } else this.#frame.say(said)
  }

  #answered(messageId: string, message: AssistantMessage): void {
    if (this.#messages.end(messageId, message)) this.#frame.send(snapshotOf(toAgUiMessages([...this.#said.values()])))
    this.#frame.counts.add(message)
    if (!isCut(message)) for (const call of callsToAnswer(message.content)) this.#calls.written(call)
    const { model, provider, usage, stopReason } = message
    const costUsd = this.#options.cost?.(message)
    const value = { messageId, model, provider, usage, stopReason, ...(costUsd !== undefined && { costUsd }) }
    this.#frame.send({ type: 'CUSTOM', name: 'phi.usage', value })
  }

  #ended({ status, error, rejection, limit, totalUsage, costUsd, pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): void {
    if (costUsd !== undefined) this.#frame.send({ type: 'CUSTOM', name: 'phi.cost', value: { costUsd } })
    if (error !== undefined || rejection !== undefined) {
      this.#fail(error?.message ?? rejection ?? status, error?.code ?? status, totalUsage)
      return
    }
    if (status === 'paused') {
      for (const pending of pendingApprovals) this.#calls.asked(this.#calls.of(pending), pending)
      for (const pending of pendingClientCalls) this.#calls.handedOut(this.#calls.of(pending), pending)
      this.#subAgents.suspend()
      this.#finish(this.#pause(), { status, totalUsage })
      return
    }
    if (limit !== undefined) this.#frame.send({ type: 'CUSTOM', name: 'phi.limit', value: limit })
    this.#closeCalls()
    this.#finish({ type: status === 'aborted' ? 'cancelled' : 'success' }, { status, totalUsage })
  }

  /** A client would take a call without a result for one that it has to answer itself. */
  #closeCalls(): void {
    for (const { toolCallId, parent } of this.#calls.values()) {
      if (parent !== undefined) continue
      const { id, ...result } = notRun(this.#ids.current(toolCallId))
      this.#frame.send({ type: 'TOOL_CALL_RESULT', messageId: id, ...result })
    }
    this.#calls.clear()
  }

  #finish(outcome: (AgUiEvent & { type: 'RUN_FINISHED' })['outcome'], end?: { status: string; totalUsage: Usage | undefined }): void {
    this.#messages.close()
    this.#subAgents.close()
    this.#frame.finish(outcome, end)
  }

  #fail(message: string, code: string, totalUsage?: Usage): void {
    this.#messages.close()
    this.#subAgents.close()
    this.#frame.fail(message, code, totalUsage)
  }

  /** Where only calls wait that the page runs, the run is over for it: it begins the next one with their results. */
  #pause(): (AgUiEvent & { type: 'RUN_FINISHED' })['outcome'] {
    const interrupts = this.#interrupts()
    return interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }
  }

  #interrupts(): AgUiInterrupt[] {
    const asked = [...this.#calls.values()].filter(({ state, isForPage }) => state === 'asked' && isForPage !== true)
    return asked.map((call) => interruptOf(call, call.parent === undefined ? this.#ids.current(call.toolCallId) : call.key))
  }

  #takeOfBranch(event: AgentEvent): void {
    if (event.type === 'messageEnd' && event.message.role === 'user' && !this.#frame.isStarted) {
      // All branches answer the same prompt.
      this.#frame.beginWith(userMessageOf({ ...event.message, id: event.messageId }))
      return
    }
    if (event.type === 'messageStart' && event.message.role === 'user') return
    if (this.#announced !== undefined && event.type !== 'agentStart' && event.type !== 'turnStart') {
      this.#note(this.#announced)
      this.#announced = undefined
    }
    if (event.type === 'agentEnd') this.#branches.keep(event)
    else if (event.type === 'approvalRequested' || event.type === 'approvalResolved') this.#takeOfCall(ofBranch(event))
    else if (event.type === 'toolExecutionEnd') this.#calls.ended(`${event.loopId}/${event.toolCallId}`)
  }

  /** Shows the chosen branch whole. A run of branches has no `agentEnd`. */
  #branchChosen(loopId: string): void {
    this.#calls.clear()
    for (const message of this.#branches.messagesOf(loopId)) {
      if (message.role === 'assistant') {
        this.#begin(message.id)
        this.#answered(message.id, message)
      } else if (message.role === 'toolResult') this.#callEnded({ ...message, result: message })
    }
    this.#closeCalls()
    this.#finish({ type: 'success' })
  }
}
