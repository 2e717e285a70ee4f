import { refuseMoreAnswers } from '../../base/argument-checks.ts'
import {
  approvedRequest,
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
import type { ApprovalRef, ClientCallAnswer, InputAnswer, InputRef } from '../../types/run/question.ts'
import type { AgentRun, Receipt, RunResult } from '../../types/run/run.ts'
import type { RemoteError } from '../remote-error.ts'
import type { QueuedReceipt, RemoteReceipt } from './outbox.ts'
import { type EventBody, RunProgress } from './run-progress.ts'

/** Parts of the session that a run needs. */
export interface RunHost {
  readonly sessionId: string
  readonly logger: Logger | false | undefined
  stop(run: RemoteRun): void
  queue(kind: QueuedReceipt['kind'], input: PromptInput, run: RemoteRun, more: readonly unknown[]): Receipt
  answer(inputId: string, answer: InputAnswer): void
  decide(request: { toolCallId: string; argumentsHash?: string }, approved: boolean, reason?: string): void
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /** Called once, before its last event is visible. */
  ended(run: RemoteRun): void
}

const nothingAsked: OpenQuestions = { approvals: [], inputs: [], clientCalls: [] }

/**
 * A run on a server with the interface of a local run.
 *
 * **Contract**
 * - Its events are the server's, with their cursors, while one loop runs. `id` and `loopId` are empty until the first event.
 * - If the server lost the loop and another one continues it, the run continues: `runId` stays, `seq` counts on, `loopId` changes. Missed
 *   parts come from the session's record, a truncated response ends with `stopReason` `error`, and another `agentStart` follows. There is one
 *   `agentEnd`, with the messages and usage of all loops.
 * - `result` always resolves. If the connection is lost for good, or the session is closed, it has status `error` and the code of the
 *   `RemoteError`; iteration throws that error.
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
  /** Totals of earlier loops. */
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

  /** Aborts when the caller stops it. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether a part was rebuilt from the record. */
  get isPatched(): boolean {
    return this.#isRenumbered
  }

  /** The cursor to read from. */
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

  approve(request: ApprovalRef, ...more: never[]): void {
    this.#decide(approvedRequest(request, more), true)
  }

  deny(request: ApprovalRef | string, reason?: string, ...more: never[]): void {
    checkDenial(reason, more)
    this.#decide(typeof request === 'string' ? { toolCallId: request } : request, false, reason)
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

  /** Returns a receipt that the events of this run settle; at once if there are no more. */
  expect(receipt: RemoteReceipt): void {
    if (this.#hasEnded) receipt.settle('returned')
    else if (!this.#receipts.has(receipt.message.id)) this.#receipts.set(receipt.message.id, receipt)
  }

  /** Queued messages. */
  get queued(): RemoteReceipt[] {
    return [...this.#receipts.values()].filter(({ status }) => status === 'queued')
  }

  /** Processes the next event of the current loop; known events are skipped. */
  accept(event: AgentEvent): void {
    if (this.#hasEnded || event.seq <= this.#after) return
    const isPartlyKnown = event.type === 'messageUpdate' && event.fromSeq !== undefined && event.fromSeq <= this.#after
    this.#after = event.seq
    // Joined deltas cannot be cut; the end of the message has the whole text.
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

  /** Continues with the loop `nextId` after that of `record` was cut off. Created results of unfinished calls are only in the record. */
  goOnWith(record: LoopRecord, nextId: string): void {
    this.catchUp(record)
    this.#emit(this.#progress.cutOff())
    const { messages, usage } = this.#earlier
    this.#earlier = { messages: [...messages, ...record.messages], usage: combineUsage(usage, record.usage) }
    this.#isRenumbered = true
    // Requests of the lost loop are gone.
    this.#open = nothingAsked
    this.loopId = nextId
    this.#after = 0
  }

  /** Ends the run from the `record` of its loop, whose events are gone. */
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

  /** Ends a run of which nothing is left: its input is returned. */
  refuse(error: RunFailure | undefined): void {
    this.id ||= newId()
    this.loopId ||= this.id
    const end = { ...this.#base(), messages: [], usage: emptyUsage(), returned: [...this.#prompts] }
    this.#end(error === undefined ? { ...end, type: 'agentEnd', status: 'aborted' } : { ...end, type: 'agentEnd', status: 'error', error })
  }

  /** Ends a run that gets no more events. */
  lose(error: RemoteError): void {
    if (this.#hasEnded) return
    const { messages } = this.#progress
    const all = [...this.#earlier.messages, ...messages.filter(({ id }) => !this.#earlier.messages.some((other) => other.id === id))]
    const { usage } = this.#progress
    this.#settle({ status: 'error', error: toRunFailure(error), messages: all, usage, totalUsage: usage, returned: [] }, { failure: error })
  }

  #decide(asked: Partial<ApprovalRef>, approved: boolean, reason?: string): void {
    const { toolCallId } = requestFor(this.#open.approvals, asked)
    const { argumentsHash } = asked
    this.#host.decide({ toolCallId, ...(argumentsHash !== undefined && { argumentsHash }) }, approved, reason)
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

  /** Emits an event of this side. From then on the server's cursors do not apply to this run. */
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

  /** Emits the end of all loops. */
  #whole(end: AgentEndEvent): AgentEndEvent {
    const { messages, usage } = this.#earlier
    if (messages.length === 0) return end
    const totalUsage = combineUsage(usage, end.totalUsage ?? end.usage)
    // The usage of earlier loops is not recorded.
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

  /** Becomes idle before the last event is visible, because a listener may prompt again. */
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
