import { refuseMoreAnswers } from '../../base/argument-checks.ts'
import {
  checkDenial,
  checkedAnswer,
  inputFor,
  type OpenQuestions,
  questionsAfter,
  requestFor,
  shownRequest,
  waitingApprovals,
  waitingClientCalls,
} from '../../base/questions.ts'
import { toRunFailure } from '../../contract/errors.ts'
import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, answerOf, type PromptInput } from '../../contract/message/message.ts'
import { combineUsage, emptyUsage } from '../../contract/model/usage.ts'
import type { AgentEndEvent, AgentEvent } from '../../contract/run/event.ts'
import type { PendingApproval, PendingClientCall, PendingInput, RunFailure } from '../../contract/run/run-facts.ts'
import { endOf, type LoopRecord } from '../../contract/session/session.ts'
import { LoggedRun } from '../../stream/logged-run.ts'
import type { Logger } from '../../types/logger.ts'
import type { ApprovalRef, ApproveOptions, ClientCallAnswer, InputAnswer, InputRef } from '../../types/run/question.ts'
import type { AgentRun, Receipt, RunResult } from '../../types/run/run.ts'
import type { RemoteError } from '../remote-error.ts'
import { approvalWith, type Decision, type QueuedReceipt, type RemoteReceipt } from './outbox.ts'
import { type EventBody, RunProgress } from './run-progress.ts'

type DecidedCall = Pick<PendingApproval, 'toolCallId'> & Partial<ApprovalRef>

/** Parts of the session that a run uses. */
export interface RunHost {
  readonly sessionId: string
  readonly logger: Logger | false | undefined
  stop(run: RemoteRun): void
  queue(kind: QueuedReceipt['kind'], input: PromptInput, run: RemoteRun, more: readonly unknown[]): Receipt
  answer(inputId: string, answer: InputAnswer): void
  decide(request: DecidedCall, decision: Decision): void
  /** Sends an approval with options. Rejects if the server rejects the approval. */
  approveWith(request: DecidedCall, decision: Decision): Promise<void>
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /** Called once, before the run's last event is emitted. */
  ended(run: RemoteRun): void
}

const nothingAsked: OpenQuestions = { approvals: [], inputs: [], clientCalls: [] }

/**
 * A run on a server, with the interface of a local run.
 *
 * **Contract**
 * - Emits the server's events with their cursors while one loop runs. `id` and `loopId` are empty until the first event.
 * - If the server lost the loop and another loop continues it, the run continues too: `runId` stays the same, `seq` keeps increasing,
 *   `loopId` changes. Missed events are rebuilt from the session's record. A truncated response ends with `stopReason` `error`, and another
 *   `agentStart` follows. The single `agentEnd` contains the messages and usage of all loops.
 * - `result` always resolves. If reconnecting fails or the session is closed, the result has status `error` and the `RemoteError` code, and
 *   iteration throws that error.
 */
export class RemoteRun extends LoggedRun implements AgentRun {
  id = ''
  loopId = ''
  readonly result: Promise<RunResult>
  readonly #host: RunHost
  readonly #prompts: readonly AgentMessage[]
  readonly #stop = new AbortController()
  readonly #progress = new RunProgress()
  #open = nothingAsked
  readonly #receipts = new Map<string, RemoteReceipt>()
  #resolve: (result: RunResult) => void = () => undefined
  /** The server's cursor in the current loop. */
  #after = 0
  /** The latest cursor of this run. */
  #seq = 0
  #isRenumbered = false
  #hasEnded = false
  /** Totals from earlier loops. */
  #earlier = { messages: [] as AgentMessage[], usage: emptyUsage() }

  /** `prompts`: the messages of the prompt that starts the run. */
  constructor(host: RunHost, prompts: readonly AgentMessage[] = []) {
    super(host.logger)
    this.#host = host
    this.#prompts = prompts
    this.result = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  get sessionId(): string {
    return this.#host.sessionId
  }

  /** Aborts when the caller stops the run. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether events were rebuilt from the session record. */
  get isPatched(): boolean {
    return this.#isRenumbered
  }

  /** Returns the cursor to resume reading from. */
  get cursor(): { loopId: string; after: number } {
    return { loopId: this.loopId, after: this.#after }
  }

  // Interface of AgentRun

  message(id: string): AgentMessage | undefined {
    return this.#progress.message(id)
  }

  steer(input: PromptInput, ...more: never[]): Receipt {
    return this.#host.queue('steer', input, this, more)
  }

  followUp(input: PromptInput, ...more: never[]): Receipt {
    return this.#host.queue('followUp', input, this, more)
  }

  approve(request: ApprovalRef): void
  approve(request: ApprovalRef, options: ApproveOptions): Promise<void>
  approve(request: ApprovalRef, options?: ApproveOptions, ...more: never[]): void | Promise<void> {
    if (options !== undefined) return this.#approveWith(request, options, more)
    this.#host.decide(this.#decided(shownRequest(request)), { approved: true })
  }

  deny(request: ApprovalRef | string, reason?: string, ...more: never[]): void {
    checkDenial(reason, more)
    const ref = typeof request === 'string' ? { toolCallId: request } : request
    this.#host.decide(this.#decided(ref), { approved: false, ...(reason !== undefined && { reason }) })
  }

  pendingApprovals(): PendingApproval[] {
    return [...this.#open.approvals]
  }

  answer(request: InputRef | string, answer: InputAnswer, ...more: never[]): void {
    refuseMoreAnswers('answer', more)
    const { inputId } = inputFor(this.#open.inputs, request)
    this.#host.answer(inputId, checkedAnswer(answer))
  }

  pendingInputs(): PendingInput[] {
    return [...this.#open.inputs]
  }

  async claimCall(request: ApprovalRef, clientId: string, ...more: never[]): Promise<boolean> {
    refuseMoreAnswers('claimCall', more)
    requestFor(this.#open.clientCalls, shownRequest(request))
    return this.#host.claimCall(request, clientId)
  }

  async answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string, ...more: never[]): Promise<void> {
    refuseMoreAnswers('answerCall', more)
    requestFor(this.#open.clientCalls, shownRequest(request))
    return this.#host.answerCall(request, answer, clientId)
  }

  pendingClientCalls(): PendingClientCall[] {
    return [...this.#open.clientCalls]
  }

  abort(): void {
    if (this.#hasEnded || this.stopped.aborted) return
    this.#stop.abort()
    this.#host.stop(this)
  }

  // Called by the session

  /** Sets the loop id before its first event. */
  adopt(loopId: string): void {
    this.loopId = loopId
  }

  /** Returns a receipt that the events of this run settle; immediately if there are no more. */
  expect(receipt: RemoteReceipt): void {
    if (this.#hasEnded) receipt.settle('returned')
    else if (!this.#receipts.has(receipt.message.id)) this.#receipts.set(receipt.message.id, receipt)
  }

  /** Messages queued for this run. */
  get queued(): RemoteReceipt[] {
    return [...this.#receipts.values()].filter(({ status }) => status === 'queued')
  }

  /** Processes the next event of the current loop. Skips known events. */
  accept(event: AgentEvent): void {
    if (this.#hasEnded || event.seq <= this.#after) return
    const isPartlyKnown = event.type === 'messageUpdate' && event.fromSeq !== undefined && event.fromSeq <= this.#after
    this.#after = event.seq
    // Merged deltas cannot be split. The end of the message contains the whole text.
    if (isPartlyKnown || (this.#isRenumbered && this.#progress.isDuplicate(event))) return
    if (this.id === '') this.id = event.runId
    this.loopId = event.loopId
    const own = this.#isRenumbered ? this.#renumbered(event) : event
    if (own.type === 'agentEnd') this.#end(this.#whole(own))
    else this.#append(own)
  }

  /** Rebuilds missed parts of a loop from its record. */
  catchUp(record: LoopRecord): void {
    if (this.id === '') this.id = record.loopId
    this.loopId = record.loopId
    this.form ??= record.config?.output
    this.#emit(this.#progress.missing(record))
  }

  /**
   * Continues with the loop `nextId` after the loop in `record` was interrupted. Only the record contains the created results of unfinished
   * calls.
   */
  goOnWith(record: LoopRecord, nextId: string): void {
    this.catchUp(record)
    this.#emit(this.#progress.cutOff())
    const { messages, usage } = this.#earlier
    this.#earlier = { messages: [...messages, ...record.messages], usage: combineUsage(usage, record.usage) }
    this.#isRenumbered = true
    // Drop the lost loop's pending requests.
    this.#open = nothingAsked
    this.loopId = nextId
    this.#after = 0
  }

  /** Ends the run from its loop's `record`, because the events are no longer available. */
  finish(record: LoopRecord): void {
    this.catchUp(record)
    const { messages, usage, error, rejection } = record
    const pendingApprovals = waitingApprovals(messages)
    const pendingClientCalls = waitingClientCalls(messages)
    this.#emit(this.#progress.cutOff())
    const status = endOf(record) ?? 'error'
    const isKept = [...this.#earlier.messages, ...messages].some(({ id }) => id === this.#prompts.at(-1)?.id)
    const returned = status === 'error' && !isKept ? [...this.#prompts] : []
    const end: AgentEndEvent = {
      ...this.#base(),
      ...{ type: 'agentEnd', status, messages, usage },
      ...(returned.length > 0 && { returned }),
      ...(error !== undefined && { error }),
      ...(rejection !== undefined && { rejection }),
      ...(pendingApprovals.length > 0 && { pendingApprovals }),
      ...(pendingClientCalls.length > 0 && { pendingClientCalls }),
    }
    this.#end(this.#whole(end))
  }

  /** Ends a run that the server does not know, and returns its input. */
  refuse(error: RunFailure | undefined): void {
    this.id ||= newId()
    this.loopId ||= this.id
    const end = { ...this.#base(), messages: [], usage: emptyUsage(), returned: [...this.#prompts] }
    this.#end(error === undefined ? { ...end, type: 'agentEnd', status: 'aborted' } : { ...end, type: 'agentEnd', status: 'error', error })
  }

  /** Ends a run that receives no more events. */
  lose(error: RemoteError): void {
    if (this.#hasEnded) return
    const { messages } = this.#progress
    const all = [...this.#earlier.messages, ...messages.filter(({ id }) => !this.#earlier.messages.some((other) => other.id === id))]
    const { usage } = this.#progress
    this.#settle({ status: 'error', error: toRunFailure(error), messages: all, usage, totalUsage: usage, returned: [] }, { failure: error })
  }

  async #approveWith(request: ApprovalRef, options: ApproveOptions, more: readonly never[]): Promise<void> {
    const decision = approvalWith(options, more)
    return this.#host.approveWith(this.#decided(shownRequest(request)), decision)
  }

  #decided(asked: Partial<ApprovalRef>): DecidedCall {
    const { toolCallId } = requestFor(this.#open.approvals, asked)
    const { argumentsHash } = asked
    return { toolCallId, ...(argumentsHash !== undefined && { argumentsHash }) }
  }

  #append(event: AgentEvent): void {
    this.#seq = event.seq
    this.#progress.add(event)
    if (event.type === 'messageStart' && this.#receipts.size > 0) this.#deliver(event.messageId)
    this.#open = questionsAfter(this.#open, event)
    this.append(event)
  }

  #deliver(messageId: string): void {
    this.#receipts.get(messageId)?.settle('delivered')
    this.#receipts.delete(messageId)
  }

  /** Emits an event that this client creates. Afterwards, the server's cursors no longer apply to this run. */
  #emit(bodies: readonly EventBody[]): void {
    if (bodies.length > 0) this.#isRenumbered = true
    for (const body of bodies) this.#append({ ...body, ...this.#base() })
  }

  #base() {
    return { runId: this.id, seq: this.#seq + 1, at: Date.now(), sessionId: this.sessionId, loopId: this.loopId }
  }

  #renumbered(event: AgentEvent): AgentEvent {
    const seq = this.#seq + 1
    if (event.type !== 'messageUpdate' || event.fromSeq === undefined) return { ...event, runId: this.id, seq }
    return { ...event, runId: this.id, fromSeq: seq, seq: seq + event.seq - event.fromSeq }
  }

  /** Emits the run's end event, which covers all loops. */
  #whole(end: AgentEndEvent): AgentEndEvent {
    const { messages, usage } = this.#earlier
    if (messages.length === 0) return end
    const totalUsage = combineUsage(usage, end.totalUsage ?? end.usage)
    // The record does not contain the usage of earlier loops.
    const { costUsd: _, ...last } = end
    return { ...last, messages: [...messages, ...end.messages], usage: combineUsage(usage, end.usage), totalUsage }
  }

  #end(event: AgentEndEvent): void {
    const {
      status,
      messages,
      usage,
      totalUsage = usage,
      returned = [],
      error,
      limit,
      rejection,
      pendingApprovals,
      pendingClientCalls,
      costUsd,
    } = event
    const known = {
      ...(costUsd !== undefined && { costUsd }),
      ...(error !== undefined && { error }),
      ...(limit !== undefined && { limit }),
      ...(rejection !== undefined && { rejection }),
      ...(pendingApprovals !== undefined && { pendingApprovals }),
      ...(pendingClientCalls !== undefined && { pendingClientCalls }),
    }
    this.#settle({ status, messages, usage, totalUsage, returned, ...known }, { last: event })
  }

  /** Reports the end to the session before the last event is delivered, because a listener may send another prompt. */
  #settle(
    outcome: Omit<RunResult, 'runId' | 'loopId' | 'sessionId' | 'text'>,
    { last, failure }: { last?: AgentEndEvent; failure?: RemoteError },
  ): void {
    this.#hasEnded = true
    this.#open = nothingAsked
    for (const receipt of this.#receipts.values()) receipt.settle('returned')
    this.#receipts.clear()
    this.#host.ended(this)
    if (last !== undefined) this.log.append(last)
    this.log.close(failure)
    const { id: runId, loopId, sessionId } = this
    const { status, messages } = outcome
    this.#resolve({ runId, loopId, sessionId, ...answerOf(status, messages), ...outcome })
  }
}
