import { waitingApprovals, waitingClientCalls } from '../../base/questions.ts'
import { PhiError } from '../../contract/errors.ts'
import { type AssistantMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEndEvent, AgentEvent, MessageEndEvent, MessageUpdateEvent } from '../../contract/run/event.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, aFunction, anything, aText, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import { isWithheld } from '../native/emitted-event.ts'
import { BranchedLoops, isCut, ofBranch } from '../shared/answers.ts'
import { type CallResult, OpenCalls, openCallsOf, type WaitingForPerson } from '../shared/open-calls.ts'
import type { AgUiEvent, AgUiInterrupt, AgUiMessage } from './ag-ui-event.ts'
import type { AgUiEncoder, AgUiEncoderOptions } from './encoder-contract.ts'
import { interruptOf } from './interrupts.ts'
import { MessageEvents } from './message-events.ts'
import { bodyOf, SubAgentEvents } from './sub-agent-events.ts'
import { CallIds, notRun, resultOf, snapshotOf, toAgUiMessages, userMessageOf } from './to-ag-ui-messages.ts'
import { TokenCounts } from './token-counts.ts'

const encoderOptions = optionsOf<AgUiEncoderOptions>({
  history: listOf(anything),
  approvals: listOf(anything),
  clientCalls: listOf(anything),
  restate: aFlag,
  threadId: aText,
  runId: aText,
  cost: aFunction,
})

/**
 * Encodes a run for clients of AG-UI 1.0.
 *
 * **Contract**
 * - Give it every event from the first one of the run. One encoder per response; what it makes begins with `RUN_STARTED` and ends with
 *   `RUN_FINISHED` or `RUN_ERROR`. Every start has its end, and no delta is empty.
 * - `RUN_STARTED` waits for what the person said and has it in `input.messages`: a client that said it does not get it twice, another one sees it.
 * - Ids are those of `toAgUiMessages`. What a sub-agent says is shown at the end of each of its messages.
 * - What has no counterpart is `CUSTOM` with a `phi.` name. Its state is the open block and the open calls; it keeps no text. Pure. Throws only for options that there are not.
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
  readonly #counts = new TokenCounts()
  readonly #messages = new MessageEvents(this.#ids, (event) => this.#send(event))
  readonly #subAgents = new SubAgentEvents(this.#counts, (event) => this.#send(event))
  #out: AgUiEvent[] = []
  #thread = { threadId: '', runId: '' }
  #isStarted = false
  #isEnded = false
  /** That branches have begun, until what was said is told. */
  #announced: AgentEvent | undefined
  /** Some of the run was seen in an earlier response. */
  #isLater = false
  /** What the client has to be shown before anything else. */
  #restated: AgUiMessage[] | undefined
  /** Where in its text the answer stands, where the run asks for JSON. */
  #form: OutputForm | undefined
  /** What the person said, until `RUN_STARTED` tells it. */
  #said: AgUiMessage[] = []
  /** The turn; `isShown` once its step has begun. */
  #step: { name: string; isShown: boolean } | undefined

  constructor(options: AgUiEncoderOptions) {
    const { history = [], restate = false, threadId = '', runId = '' } = options
    const { approvals = waitingApprovals(history), clientCalls = waitingClientCalls(history) } = options
    this.#options = options
    this.#thread = { threadId, runId }
    const shown = toAgUiMessages(history, this.#ids)
    if (restate) this.#restated = shown
    for (const call of openCallsOf(history)) this.#calls.written(call)
    for (const pending of [...approvals, ...clientCalls]) this.#calls.left(pending)
  }

  encode(event: AgentEvent): AgUiEvent[] {
    if (this.#isEnded) return []
    this.#out = []
    if (event.type === 'messageUpdate') this.#delta(event)
    else this.#take(event)
    return this.#out
  }

  skip(event: AgentEvent): void {
    this.encode(event)
    this.#isStarted = false
    this.#isLater = true
    this.#said = []
    this.#step = undefined
    this.#messages.forget()
    this.#subAgents.forget()
    this.#counts.clear()
  }

  get waiting(): WaitingForPerson {
    return this.#messages.isStreaming || this.#isEnded ? 'no' : this.#calls.waiting
  }

  suspend(): AgUiEvent[] {
    return this.#last(() => {
      this.#subAgents.suspend()
      this.#finish(this.#pause())
    })
  }

  end(): AgUiEvent[] {
    return this.#last(() => this.#fail('The events of the run have ended before the run. Connect again.', 'interrupted'))
  }

  fail(error: unknown): AgUiEvent[] {
    const isOurs = PhiError.isInstance(error)
    return this.#last(() =>
      this.#fail(isOurs ? error.message : 'The events of the run could not be read on.', isOurs ? error.code : 'stream'),
    )
  }

  #last(write: () => void): AgUiEvent[] {
    if (this.#isEnded) return []
    this.#out = []
    write()
    return this.#out
  }

  /** `RUN_STARTED` comes first, and the step before what happens in it. */
  #send(event: AgUiEvent): void {
    if (!this.#isStarted) this.#start()
    if (this.#step?.isShown === false) {
      this.#step.isShown = true
      this.#out.push({ type: 'STEP_STARTED', stepName: this.#step.name })
    }
    this.#out.push(event)
  }

  #start(): void {
    this.#isStarted = true
    const messages = this.#said
    const restated = this.#restated
    const isTold = messages.length === 0 || restated !== undefined
    const input = isTold ? {} : { input: { ...this.#thread, messages, tools: [] as [], context: [] as [] } }
    this.#out.push({ type: 'RUN_STARTED', ...this.#thread, protocolVersion: '1.0', ...input })
    if (restated !== undefined) this.#out.push(snapshotOf([...restated, ...messages]))
    this.#restated = undefined
    this.#said = []
    if (this.#form !== undefined) this.#out.push({ type: 'CUSTOM', name: 'phi.output', value: this.#form })
  }

  #take(event: Exclude<AgentEvent, MessageUpdateEvent>): void {
    if (this.#thread.threadId === '') this.#thread.threadId = event.sessionId
    if (this.#thread.runId === '') this.#thread.runId = event.loopId
    if (this.#branches.has(event)) this.#takeOfBranch(event)
    else this.#takeOfRun(event)
  }

  #takeOfRun(event: Exclude<AgentEvent, MessageUpdateEvent>): void {
    switch (event.type) {
      case 'agentStart':
        this.#form = event.configSnapshot.output
        return
      case 'inputRejected':
      case 'turnRequest':
        return
      case 'turnStart':
        this.#step = { name: `turn ${event.turnIndex}`, isShown: false }
        return
      case 'turnEnd':
        this.#endStep()
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
    this.#send({ type: 'TOOL_CALL_RESULT', messageId: id, ...shown })
  }

  /** What has no counterpart. */
  #note(event: AgentEvent): void {
    this.#send({ type: 'CUSTOM', name: `phi.${event.type}`, value: bodyOf(event) })
  }

  #begin(messageId: string): void {
    this.#calls.clear()
    this.#messages.begin(messageId)
  }

  #delta({ messageId, delta }: MessageUpdateEvent): void {
    this.#messages.delta(messageId, delta)
  }

  #messageEnded({ messageId, message }: MessageEndEvent): void {
    if (message.role === 'assistant') this.#answered(messageId, message)
    if (message.role !== 'user') return
    const said = userMessageOf({ ...message, id: messageId })
    if (this.#isStarted || this.#isLater) this.#say(said)
    else {
      this.#calls.clear()
      this.#said.push(said)
    }
  }

  /** Somebody said something while the run goes on. Its text: images of it are in the history alone. */
  #say({ id: messageId, role, content }: AgUiMessage & { role: 'user' | 'system' }): void {
    const delta = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    this.#send({ type: 'TEXT_MESSAGE_START', messageId, role })
    if (delta !== '') this.#send({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    this.#send({ type: 'TEXT_MESSAGE_END', messageId })
  }

  #answered(messageId: string, message: AssistantMessage): void {
    this.#messages.end(messageId, message)
    this.#counts.add(message)
    if (!isCut(message)) for (const call of callsToAnswer(message.content)) this.#calls.written(call)
    const { model, provider, usage, stopReason } = message
    const costUsd = this.#options.cost?.(message)
    const value = { messageId, model, provider, usage, stopReason, ...(costUsd !== undefined && { costUsd }) }
    this.#send({ type: 'CUSTOM', name: 'phi.usage', value })
  }

  #endStep(): void {
    const step = this.#step
    if (step?.isShown === true) this.#send({ type: 'STEP_FINISHED', stepName: step.name })
    this.#step = undefined
  }

  #ended({ status, error, rejection, limit, totalUsage, costUsd, pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): void {
    if (costUsd !== undefined) this.#send({ type: 'CUSTOM', name: 'phi.cost', value: { costUsd } })
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
    if (limit !== undefined) this.#send({ type: 'CUSTOM', name: 'phi.limit', value: limit })
    this.#closeCalls()
    this.#finish({ type: status === 'aborted' ? 'cancelled' : 'success' }, { status, totalUsage })
  }

  /** A client would take a call without a result for one that it has to answer itself. */
  #closeCalls(): void {
    for (const { toolCallId, parent } of this.#calls.values()) {
      if (parent !== undefined) continue
      const { id, ...result } = notRun(this.#ids.current(toolCallId))
      this.#send({ type: 'TOOL_CALL_RESULT', messageId: id, ...result })
    }
    this.#calls.clear()
  }

  #finish(outcome: (AgUiEvent & { type: 'RUN_FINISHED' })['outcome'], end?: { status: string; totalUsage: Usage | undefined }): void {
    this.#messages.close()
    this.#subAgents.close()
    this.#endStep()
    const usage = this.#counts.list(this.#isLater ? undefined : end?.totalUsage)
    this.#send({ type: 'RUN_FINISHED', ...this.#thread, ...(end !== undefined && { result: { status: end.status } }), outcome, usage })
    this.#isEnded = true
  }

  #fail(message: string, code: string, totalUsage?: Usage): void {
    this.#messages.close()
    this.#subAgents.close()
    this.#endStep()
    this.#send({ type: 'RUN_ERROR', message, code, usage: this.#counts.list(this.#isLater ? undefined : totalUsage) })
    this.#isEnded = true
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
    if (event.type === 'messageEnd' && event.message.role === 'user' && !this.#isStarted) {
      // All branches answer the same prompt.
      const { messageId, message } = event
      if (!this.#said.some(({ id }) => id === messageId)) this.#said.push(userMessageOf({ ...message, id: messageId }))
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
