import { dataPartOf } from '../../contract/message/data-part.ts'
import { type AssistantMessage, hasCallsToAnswer } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent, MessageEndEvent } from '../../contract/run/event.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { AnswerLoops } from '../shared/answers.ts'
import { isWithheld } from '../shared/encoding.ts'
import type { CallEvent } from '../shared/open-calls.ts'
import { RunFold, type SentPart } from '../shared/run-fold.ts'
import { CallChunks } from './call-chunks.ts'
import { encoderOptions, type UiEncoderOptions, type UiMessageEncoder } from './encoder-contract.ts'
import { MessageChunks } from './message-chunks.ts'
import { chunksOf, isStoredPart } from './parts.ts'
import { asksPage, endingOf, failureText, finishReasonOf, noteOf, reasons } from './run-end.ts'
import { dataPart, interjection, metadataAfter, type OpenAnswer, readAnswers } from './to-ui-messages.ts'
import type { UiChunk, UiDataPart, UiFinishReason, UiMetadata } from './ui-message.ts'

/**
 * Creates an encoder of a run for `useChat` of the AI SDK (UI message stream v1).
 *
 * **Contract**
 * - Pass every event, starting with the first event of the run, so that a resuming client can rebuild its message. Use one encoder per
 *   response.
 * - A run becomes one message. The message id is the id of the response's first message, as in `toUiMessages`; `start` is sent when this
 *   id is known.
 * - Only one text or reasoning block is open at a time. A message with missing deltas is sent as a whole when it is complete.
 * - The encoder stores the open block and the open calls, but no text. Pure: reads no clock and creates no ids. Throws only for unknown
 *   options.
 *
 * Source: docs/reference/ui-protocols.md
 *
 * @example
 * ```ts
 * const encoder = uiMessageEncoder({ history: agent.messages })
 * for await (const event of run) for (const chunk of encoder.encode(event)) write(uiMessageSse(chunk))
 * write(uiMessageStreamEnd)
 * ```
 */
export function uiMessageEncoder(options: UiEncoderOptions = {}): UiMessageEncoder {
  checkOptions(options, encoderOptions)
  return new Encoder(options)
}

class Encoder extends RunFold<UiChunk> implements UiMessageEncoder {
  readonly #options: UiEncoderOptions
  protected readonly calls = new CallChunks((chunk) => this.#send(chunk))
  protected readonly message = new MessageChunks(this.calls, (chunk) => this.#send(chunk))
  #isStarted = false
  /** Message id of the response. Set by its first message. */
  #id: string | undefined
  /** The last response in the history, while the run may extend it. */
  #earlier: OpenAnswer | undefined
  #loops = new AnswerLoops()
  #metadata: UiMetadata | undefined
  /** Position of the response in its text, if the run has a JSON format. */
  #form: { messageMetadata?: Pick<UiMetadata, 'output'> } = {}
  #isStepOpen = false
  /** Whether the last step made calls. Without a following step, `useChat` would send their results again. */
  #hasCalls = false
  /** Whether the last response of the open step failed. The next response replaces it. */
  #hasFailed = false
  #stopReason: AssistantMessage['stopReason'] = 'stop'
  /** Whether this stream contains the prompt that the answer responds to. */
  #isPrompted = false
  /** Data parts, by type and id, that wait for the start. */
  readonly #waiting = new Map<string, UiDataPart>()

  constructor(options: UiEncoderOptions) {
    super(options)
    this.#options = options
    const { last } = readAnswers(options.history ?? [], options)
    if (last === undefined) return
    this.#earlier = last
    this.#loops = last.loops
    this.#metadata = last.message.metadata
    this.#hasCalls = last.hasCalls
    this.calls.resume(last)
    this.message.step = last.steps
    this.message.resume(last.openServices)
  }

  /** Keeps data parts, because a client lacks those that were sent while its run waited. Others replace themselves. */
  override skip(event: AgentEvent): void {
    super.skip(event)
    for (const chunk of this.out) if (isStoredPart(chunk)) this.#wait(chunk)
  }

  #wait(part: UiDataPart): void {
    this.#waiting.set(`${part.type} ${part.id}`, part)
  }

  protected override forget(): void {
    this.#isStarted = false
    this.message.forget()
  }

  /** Starts a new message for the response. */
  protected override replied(): void {
    this.#id = undefined
    this.#beginAnswer()
  }

  protected override suspended(): void {
    this.message.close()
    this.message.holdBack()
    this.#finish('tool-calls')
  }

  protected override brokenOff(cause: { error: unknown } | undefined): void {
    if (cause !== undefined) this.#fail(failureText(cause.error))
    this.#finish(cause === undefined ? 'interrupted' : 'error')
  }

  /** Sends `start` before the first chunk that is not transient. */
  #send(chunk: UiChunk): void {
    if (!this.#isStarted) this.#start()
    this.out.push(chunk)
  }

  #start(): void {
    this.#isStarted = true
    const id = this.#id
    this.out.push({ type: 'start', ...(id !== undefined && { messageId: id }), ...this.#form })
    if (id !== undefined && id === this.#earlier?.message.id) {
      const { restate = false, knownSteps = restate ? 0 : Number.POSITIVE_INFINITY } = this.#options
      this.out.push(...chunksOf(this.#earlier.message.parts, { after: knownSteps }))
    }
    this.#earlier = undefined
    this.out.push(...this.#waiting.values())
    this.#waiting.clear()
  }

  /** Extends the last response in the history, if any; otherwise starts a response with `messageId`. */
  #goOn(loopId: string, messageId?: string): void {
    this.#id ??= this.#earlier?.message.id ?? messageId
    this.#loops.add(loopId)
  }

  protected override called({ loopId }: CallEvent): void {
    this.#goOn(loopId)
  }

  /**
   * Encodes events without an equivalent, including events from newer versions, for the client's `onData`. Messages do not contain them.
   */
  protected override other(event: AgentEvent): void {
    if (event.type === 'agentStart') {
      const { output } = event.configSnapshot
      this.calls.runByPages(event.clientTools ?? [])
      this.#form = output ? { messageMetadata: { output } } : {}
      return
    }
    if (event.type === 'turnStart' || event.type === 'inputRejected' || isWithheld(event, {})) return
    if (event.type === 'providerRetry' && event.afterOutput) this.#reset()
    this.out.push(noteOf(event))
  }

  protected override data(part: SentPart): void {
    const chunk = dataPart(part)
    if (part.transient === true) {
      this.out.push({ ...chunk, transient: true })
      return
    }
    if (this.#id === undefined) this.#wait(chunk)
    else this.#send(chunk)
  }

  protected override begun(messageId: string, loopId: string): void {
    this.#goOn(loopId, messageId)
    if (this.#hasFailed) this.#reset()
    if (this.#isStepOpen) return
    this.#isStepOpen = true
    this.message.step += 1
    this.#hasCalls = false
    this.#send({ type: 'start-step' })
  }

  protected override heard({ messageId, message, loopId }: MessageEndEvent): void {
    if (message.role === 'toolResult') this.#loops.add(loopId)
    // The first message after the prompt names the answer.
    if (this.#isPrompted && dataPartOf(message) !== undefined) this.#goOn(loopId, messageId)
    if (message.role !== 'user') return
    if (this.#id === undefined && !this.#loops.has(loopId)) {
      this.#isPrompted = true
      this.#beginAnswer()
      return
    }
    this.#goOn(loopId)
    this.#send(interjection({ ...message, id: messageId }))
  }

  /** Starts a new response after a user message, instead of extending the last response in the history. */
  #beginAnswer(): void {
    this.#earlier = undefined
    this.#loops = new AnswerLoops()
    this.#metadata = undefined
    this.#hasCalls = false
    this.calls.clear()
    this.message.clear()
  }

  protected override answered(_messageId: string, message: AssistantMessage): void {
    this.#hasCalls = hasCallsToAnswer(message.content)
    this.#hasFailed = message.stopReason === 'error'
    this.#stopReason = message.stopReason
    this.#metadata = metadataAfter(this.#metadata, message, this.#options.cost)
    this.#send({ type: 'message-metadata', messageMetadata: this.#metadata })
  }

  /** Retracts the output of the failed response. */
  #reset(): void {
    this.#hasFailed = false
    if (!this.#isStepOpen) return
    this.calls.clear()
    this.message.takeBack()
    this.#send({ type: 'reset-step' })
  }

  protected override turnEnded(): void {
    if (!this.#isStepOpen) return
    this.#isStepOpen = false
    this.#hasFailed = false
    this.#send({ type: 'finish-step' })
  }

  protected override ended(event: AgentEndEvent): void {
    const { status, error, rejection, limit } = event
    this.message.close()
    if (status === 'paused') this.message.holdBack()
    else this.calls.close()
    if (!asksPage(event)) this.#closeCalls()
    const problem = error?.message ?? rejection
    const ending = endingOf(event)
    if (problem !== undefined) this.#fail(problem, ending)
    if (status === 'aborted') this.#send({ type: 'abort' })
    if (limit !== undefined) this.out.push({ type: 'data-phi-limit', data: limit, transient: true })
    this.#finish(reasons[status] ?? finishReasonOf(this.#stopReason), ending)
  }

  /** Opens a step after calls that need no approval. The metadata at the end of the response makes `useChat` process the step. */
  #closeCalls(): void {
    if (!this.#hasCalls || this.#id === undefined) return
    this.turnEnded()
    this.#send({ type: 'start-step' })
    this.#isStepOpen = true
    this.#hasCalls = false
  }

  /** Closes blocks and steps first, because `useChat` ignores chunks after an error. */
  #fail(errorText: string, metadata?: Partial<UiMetadata>): void {
    this.message.close()
    this.turnEnded()
    if (this.#id !== undefined && metadata !== undefined) this.#send({ type: 'message-metadata', messageMetadata: metadata })
    this.#send({ type: 'error', errorText })
  }

  #finish(finishReason: UiFinishReason, metadata?: Partial<UiMetadata>): void {
    this.message.close()
    this.turnEnded()
    // Metadata without a message would make `useChat` create an empty message.
    const metadataField = this.#id === undefined || metadata === undefined ? {} : { messageMetadata: metadata }
    this.#send({ type: 'finish', finishReason, ...metadataField })
    this.isEnded = true
  }

  protected override choosing(): void {
    this.calls.close()
  }

  protected override chosen(): void {
    this.calls.close()
    this.#closeCalls()
    this.#finish(finishReasonOf(this.#stopReason), {})
  }
}
