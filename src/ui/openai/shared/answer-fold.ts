import type { Citation, Content } from '../../../contract/message/content.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import { combineUsage, emptyUsage, type Usage } from '../../../contract/model/usage.ts'
import type { AgentEndEvent, MessageUpdateEvent } from '../../../contract/run/event.ts'
import type { PendingApproval } from '../../../contract/run/run-facts.ts'
import { MessageFold, type OpenBlock } from '../../shared/message-fold.ts'
import { type CallEvent, OpenCalls } from '../../shared/open-calls.ts'
import { RunFold } from '../../shared/run-fold.ts'
import { brokenOff, failureOf, type RunFailed } from './failure.ts'

/** Writes a run's response in the format of an OpenAI API. Excludes calls to the agent's own tools. */
export interface AnswerWriter {
  text(messageId: string, contentIndex: number, delta: string): void
  reasoning(messageId: string, contentIndex: number, delta: string): void
  /** Writes a citation of this block. */
  cite(messageId: string, contentIndex: number, citation: Citation): void
  /** Writes a generated image. `data` is base64. */
  picture(data: string, mimeType: string): void
  refusal(messageId: string, refusal: string): void
  /** Writes a call to one of the caller's tools. */
  call(callId: string, name: string, args: string): void
  /** Ends a message. */
  close?(status: 'completed' | 'incomplete'): void
  /** Resets the state after a previous response that contained the earlier output. */
  clear(): void
}

/** Options for a response encoder. */
export interface AnswerStepsOptions {
  /** Ids of messages that the caller sent. The response excludes these messages. */
  given?: ReadonlySet<string>
  /**
   * Writes messages only when they are complete and omits failed ones, so that the response excludes output that a retry or guard
   * replaced. For responses that are not streamed. Default: `false`.
   */
  isWhole?: boolean
}

/** The finish reason of a successful response. */
export type AnswerEnd = 'stop' | 'length' | 'content_filter'

/** Folds a run into one response of an OpenAI API. */
export abstract class AnswerFold<Frame, Options extends AnswerStepsOptions> extends RunFold<Frame> {
  protected abstract readonly writer: AnswerWriter
  protected abstract override readonly calls: AnswerCalls
  protected readonly options: Options
  /** Usage of the written messages. */
  #usage: Usage = emptyUsage()
  #last: AssistantMessage | undefined
  /** The run's failure. Set after the run has ended. */
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

/**
 * Writes a model message. Excludes a refusal from the text, because the API has a separate field for it, written at the end of the
 * message.
 */
export class AnswerMessage extends MessageFold {
  readonly #writer: AnswerWriter
  readonly #options: AnswerStepsOptions
  /** Number of written citations, by block index. */
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
    // Omit images without inline data.
    if (block.type === 'image' && block.data !== undefined) this.#writer.picture(block.data, block.mimeType ?? 'image/png')
  }
}

/**
 * Writes calls that the caller must run, with validated arguments. Invalid calls are reported to the model, not to the caller.
 */
export class AnswerCalls extends OpenCalls {
  readonly #writer: AnswerWriter
  readonly #ask: ((pending: PendingApproval) => void) | undefined
  /** Keys of the calls and approvals written so far. */
  readonly #sentKeys = new Set<string>()

  /** Calls `ask` for each approval that the caller can decide. */
  constructor(writer: AnswerWriter, ask?: (pending: PendingApproval) => void) {
    super()
    this.#writer = writer
    this.#ask = ask
  }

  override take(event: CallEvent): void {
    // Client calls of sub-agents also make the run wait.
    if (event.type === 'clientCallRequested' && event.subAgent !== undefined) this.handedOut(this.of(event), event)
    // Ignore running calls of earlier responses, which do not block this response.
    if (event.type !== 'toolExecutionStart' || this.get(event.toolCallId) !== undefined) super.take(event)
  }

  /** Writes the pending calls of an ended run. */
  pause({ pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): void {
    for (const pending of pendingApprovals) this.showAsked(pending)
    for (const pending of pendingClientCalls) this.showHandedOut(pending)
  }

  protected override showAsked(pending: PendingApproval): void {
    if (this.#isNew('approval', pending)) this.#ask?.(pending)
  }

  protected override showHandedOut(pending: PendingApproval): void {
    const { toolCallId, toolName, args, subAgent } = pending
    // Client calls of sub-agents are not part of the response.
    if (subAgent === undefined && this.#isNew('call', pending)) this.#writer.call(toolCallId, toolName, JSON.stringify(args))
  }

  #isNew(type: string, { toolCallId, argumentsHash, subAgent }: PendingApproval): boolean {
    const key = `${type}/${subAgent?.loopId ?? ''}/${toolCallId}/${argumentsHash}`
    const isNew = !this.#sentKeys.has(key)
    this.#sentKeys.add(key)
    return isNew
  }
}
