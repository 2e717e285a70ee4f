import type { Citation, Content } from '../../../contract/message/content.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import { combineUsage, emptyUsage, type Usage } from '../../../contract/model/usage.ts'
import type { AgentEndEvent, MessageUpdateEvent } from '../../../contract/run/event.ts'
import type { PendingApproval } from '../../../contract/run/run-facts.ts'
import { MessageFold, type OpenBlock } from '../../shared/message-fold.ts'
import { type CallEvent, OpenCalls } from '../../shared/open-calls.ts'
import { RunFold } from '../../shared/run-fold.ts'
import { brokenOff, failureOf, type RunFailed } from './failure.ts'

/** Writes what a caller of OpenAI's APIs is told of a run. Tools that the agent runs inside are none of it. */
export interface AnswerWriter {
  text(messageId: string, contentIndex: number, delta: string): void
  reasoning(messageId: string, contentIndex: number, delta: string): void
  /** What the text rests on that was told of this block. */
  cite(messageId: string, contentIndex: number, citation: Citation): void
  /** A picture of the model: base64. */
  picture(data: string, mimeType: string): void
  refusal(messageId: string, refusal: string): void
  /** The caller is to run its tool. */
  call(callId: string, name: string, args: string): void
  /** All of a message was told. */
  close?(status: 'completed' | 'incomplete'): void
  /** What was written so far was told in an earlier answer. */
  clear(): void
}

/** What the encoder of an answer has to know besides the events. */
export interface AnswerStepsOptions {
  /** Ids of messages that the caller itself has sent: they are no answer. */
  given?: ReadonlySet<string>
  /**
   * Tells each message when it is whole, not as it grows, and none that failed: for an answer in one piece, in which nothing was shown that a retry or a guard has
   * replaced. Default `false`.
   */
  isWhole?: boolean
}

/** Why an answer ends that did not fail. */
export type AnswerEnd = 'stop' | 'length' | 'content_filter'

/** Folds a run into one answer of OpenAI's APIs. */
export abstract class AnswerFold<Frame, Options extends AnswerStepsOptions> extends RunFold<Frame> {
  protected abstract readonly writer: AnswerWriter
  protected abstract override readonly calls: AnswerCalls
  protected readonly options: Options
  /** Of the messages that were told. */
  #usage: Usage = emptyUsage()
  #last: AssistantMessage | undefined
  /** Why there is no answer, once the run has ended so. */
  failure: RunFailed | undefined

  constructor(options: Options) {
    super(options)
    this.options = options
  }

  protected abstract finish(end: AnswerEnd, used: Usage): void
  protected abstract failed(failure: RunFailed, used: Usage): void

  protected override answered(messageId: string, message: AssistantMessage): void {
    this.#usage = combineUsage(this.#usage, message.usage)
    const { stopReason, refusal } = message
    if (isLeftOut(message, this.options)) return
    this.#last = message
    this.writer.close?.(['length', 'error', 'aborted'].includes(stopReason) ? 'incomplete' : 'completed')
    if (refusal !== undefined && stopReason === 'guardRail') this.writer.refusal(messageId, refusal)
  }

  protected override ended(event: AgentEndEvent): void {
    this.calls.pause(event)
    const used = event.totalUsage ?? event.usage
    const failure = failureOf(event)
    if (failure !== undefined) this.#fail(failure, used)
    else if (event.status === 'limit' || this.#last?.stopReason === 'length') this.finish('length', used)
    else this.finish(this.#last?.stopReason === 'guardRail' ? 'content_filter' : 'stop', used)
    this.isEnded = true
  }

  protected override chosen(end: AgentEndEvent | undefined): void {
    if (end !== undefined) this.ended(end)
  }

  protected override suspended(): void {
    this.finish('stop', this.#usage)
  }

  protected override brokenOff(): void {
    this.#fail({ status: 500, error: brokenOff }, this.#usage)
  }

  #fail(failure: RunFailed, used: Usage): void {
    this.failure = failure
    this.failed(failure, used)
  }

  protected override forget(): void {
    this.#usage = emptyUsage()
    this.#last = undefined
    this.message.forget()
    this.writer.clear()
  }
}

function isLeftOut({ stopReason }: AssistantMessage, { isWhole }: AnswerStepsOptions): boolean {
  return isWhole === true && stopReason === 'error'
}

/** Tells a message of the model. A refusal is no part of its text: clients have a place for it, which the end of the message fills. */
export class AnswerMessage extends MessageFold {
  readonly #writer: AnswerWriter
  readonly #options: AnswerStepsOptions
  /** Sources that were told, by the index of the block. */
  #cited: number[] = []

  constructor(writer: AnswerWriter, options: AnswerStepsOptions) {
    super()
    this.#writer = writer
    this.#options = options
  }

  override begin(messageId: string): void {
    super.begin(messageId)
    this.#cited = []
  }

  override delta(event: MessageUpdateEvent): void {
    const isRefusal = event.delta.type === 'text' && event.delta.refusal === true
    if (this.#options.isWhole !== true && !isRefusal) super.delta(event)
  }

  protected override contentOf(message: AssistantMessage): readonly Content[] {
    return isLeftOut(message, this.#options) ? [] : message.content
  }

  protected override grown({ kind, messageId, contentIndex }: OpenBlock, delta: string): void {
    if (kind === 'text') this.#writer.text(messageId, contentIndex, delta)
    else if (kind === 'reasoning') this.#writer.reasoning(messageId, contentIndex, delta)
  }

  protected override cited(citation: Citation, contentIndex: number): void {
    this.#cited[contentIndex] = (this.#cited[contentIndex] ?? 0) + 1
    this.#writer.cite(this.live ?? '', contentIndex, citation)
  }

  protected override completed(block: Content, contentIndex: number): void {
    if (block.type === 'text') {
      for (const citation of (block.citations ?? []).slice(this.#cited[contentIndex] ?? 0)) this.cited(citation, contentIndex)
    }
    // A picture that is only named elsewhere is not shown.
    if (block.type === 'image' && block.data !== undefined) this.#writer.picture(block.data, block.mimeType ?? 'image/png')
  }
}

/**
 * Tells calls that wait for the caller: with arguments that were checked. One that the model got wrong is told to the model, not to the caller.
 */
export class AnswerCalls extends OpenCalls {
  readonly #writer: AnswerWriter
  readonly #ask: ((pending: PendingApproval) => void) | undefined
  /** Calls and approvals that were told, by what they are about. */
  readonly #told = new Set<string>()

  /** `ask`: the caller is to say whether the agent may run a tool of its own. */
  constructor(writer: AnswerWriter, ask?: (pending: PendingApproval) => void) {
    super()
    this.#writer = writer
    this.#ask = ask
  }

  override take(event: CallEvent): void {
    // The run waits also for what a sub-agent asks of pages.
    if (event.type === 'clientCallRequested' && event.subAgent !== undefined) this.handedOut(this.of(event), event)
    // A call of an earlier answer does not hold this one up.
    if (event.type !== 'toolExecutionStart' || this.get(event.toolCallId) !== undefined) super.take(event)
  }

  /** The run has ended, and these calls wait. */
  pause({ pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): void {
    for (const pending of pendingApprovals) this.showAsked(pending)
    for (const pending of pendingClientCalls) this.showHandedOut(pending)
  }

  protected override showAsked(pending: PendingApproval): void {
    if (this.#isNew('approval', pending)) this.#ask?.(pending)
  }

  protected override showHandedOut(pending: PendingApproval): void {
    const { toolCallId, toolName, args, subAgent } = pending
    // What sub-agents have pages do is none of the answer.
    if (subAgent === undefined && this.#isNew('call', pending)) this.#writer.call(toolCallId, toolName, JSON.stringify(args))
  }

  #isNew(type: string, { toolCallId, argumentsHash, subAgent }: PendingApproval): boolean {
    const key = `${type}/${subAgent?.loopId ?? ''}/${toolCallId}/${argumentsHash}`
    const isNew = !this.#told.has(key)
    this.#told.add(key)
    return isNew
  }
}
