import { type AssistantMessage, hasCallsToAnswer } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent, MessageEndEvent, MessageUpdateEvent } from '../../contract/run/event.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { AnswerLoops, BranchedLoops, ofBranch } from '../shared/answers.ts'
import { isWithheld } from '../shared/encoding.ts'
import type { WaitingForPerson } from '../shared/open-calls.ts'
import { CallChunks } from './call-chunks.ts'
import { encoderOptions, type UiEncoderOptions, type UiMessageEncoder } from './encoder-contract.ts'
import { MessageChunks } from './message-chunks.ts'
import { chunksOf } from './parts.ts'
import { asksPage, endingOf, failureText, finishReasonOf, noteOf, reasons } from './run-end.ts'
import { interjection, metadataAfter, type OpenAnswer, readAnswers } from './to-ui-messages.ts'
import type { CostOf, UiChunk, UiFinishReason, UiMetadata } from './ui-message.ts'

/**
 * Encodes a run for `useChat` of the AI SDK (UI message stream v1).
 *
 * **Contract**
 * - Give it every event from the first one of the run, so that a client that resumes builds its message again. One encoder per response.
 * - All of a run is one message. Its id is that of the first message of the answer, as `toUiMessages` has it; `start` waits for it.
 * - One text or reasoning block is open at a time. A message whose deltas were missed is shown whole at its end.
 * - The encoder keeps the open block and the open calls, and no text. Pure: no clock, no ids of its own. Throws only for options that there are not.
 *
 * Source: docs/concepts/ui-protocols.md
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

class Encoder implements UiMessageEncoder {
  readonly #cost: CostOf | undefined
  readonly #calls = new CallChunks((chunk) => this.#send(chunk))
  readonly #message = new MessageChunks(this.#calls, (chunk) => this.#send(chunk))
  readonly #branches = new BranchedLoops()
  #out: UiChunk[] = []
  #isStarted = false
  #isEnded = false
  /** Of the answer; known when its first message is. */
  #id: string | undefined
  /** The last answer of the history, as long as the run may go on with it. */
  #earlier: OpenAnswer | undefined
  /** How many steps of that answer the client has. */
  readonly #knownSteps: number
  /** Until this message is heard, the client has everything. */
  #replyTo: string | undefined
  #loops = new AnswerLoops()
  #metadata: UiMetadata | undefined
  /** Where in its text the answer stands, where the run asks for JSON. */
  #form: { messageMetadata?: Pick<UiMetadata, 'output'> } = {}
  #steps = 0
  #isStepOpen = false
  /** The last step made calls: without a step after it, the hook would send their results again. */
  #hasCalls = false
  /** The last answer of the open step failed: what is said next takes its place. */
  #hasFailed = false
  /** The message that is streamed. */
  #live: string | undefined
  #stopReason: AssistantMessage['stopReason'] = 'stop'

  constructor(options: UiEncoderOptions) {
    const {
      history = [],
      restate = false,
      knownSteps = restate ? 0 : Number.POSITIVE_INFINITY,
      replyTo,
      cost,
      approvals,
      clientCalls,
    } = options
    this.#cost = cost
    this.#replyTo = replyTo
    const known = { ...(cost && { cost }), ...(approvals && { approvals }), ...(clientCalls && { clientCalls }) }
    const { last } = readAnswers(history, known)
    this.#knownSteps = knownSteps
    if (last === undefined) return
    this.#earlier = last
    this.#loops = last.loops
    this.#metadata = last.message.metadata
    this.#steps = last.steps
    this.#hasCalls = last.hasCalls
    this.#calls.resume(last)
    this.#message.resume(last.openServices, last.steps)
  }

  encode(event: AgentEvent): UiChunk[] {
    if (this.#isEnded) return []
    this.#out = []
    if (event.type === 'messageUpdate') this.#delta(event)
    else this.#take(event)
    if (this.#replyTo !== undefined) this.#passOver(event)
    return this.#out
  }

  skip(event: AgentEvent): void {
    this.encode(event)
    this.#forget()
  }

  #forget(): void {
    this.#isStarted = false
    this.#message.forget()
  }

  /** Until the message that is replied to is heard. The answer to it is a message of its own. */
  #passOver(event: AgentEvent): void {
    if (this.#isEnded) return
    const isHeard = event.type === 'messageEnd' && event.messageId === this.#replyTo
    if (isHeard) this.#replyTo = undefined
    this.#forget()
    this.#out = []
    if (!isHeard) return
    this.#id = undefined
    this.#beginAnswer()
  }

  get waiting(): WaitingForPerson {
    return this.#live === undefined && !this.#isEnded ? this.#calls.waiting : 'no'
  }

  suspend(): UiChunk[] {
    return this.#last(() => {
      this.#message.close()
      this.#message.holdBack()
      this.#finish('tool-calls')
    })
  }

  end(): UiChunk[] {
    return this.#last(() => this.#finish('interrupted'))
  }

  fail(error: unknown): UiChunk[] {
    return this.#last(() => {
      this.#fail(failureText(error))
      this.#finish('error')
    })
  }

  #last(write: () => void): UiChunk[] {
    if (this.#isEnded) return []
    this.#out = []
    write()
    return this.#out
  }

  /** `start` comes before everything but what is transient. */
  #send(chunk: UiChunk): void {
    if (!this.#isStarted) {
      this.#isStarted = true
      const id = this.#id
      this.#out.push({ type: 'start', ...(id !== undefined && { messageId: id }), ...this.#form })
      if (id !== undefined && id === this.#earlier?.message.id)
        this.#out.push(...chunksOf(this.#earlier.message.parts, { after: this.#knownSteps }))
      this.#earlier = undefined
    }
    this.#out.push(chunk)
  }

  /** The run adds to the answer that the history ends with, if there is one; else its own begins, with `messageId`. */
  #goOn(messageId?: string): void {
    this.#id ??= this.#earlier?.message.id ?? messageId
  }

  #take(event: Exclude<AgentEvent, MessageUpdateEvent>): void {
    if (this.#branches.has(event)) {
      this.#takeOfBranch(event)
      return
    }
    switch (event.type) {
      case 'agentStart':
        this.#calls.runByPages(event.clientTools ?? [])
        this.#form = event.configSnapshot.output ? { messageMetadata: { output: event.configSnapshot.output } } : {}
        return
      case 'turnStart':
      case 'turnRequest':
      case 'inputRejected':
        return
      case 'messageStart':
        if (event.message.role === 'assistant') this.#begin(event.messageId, event.loopId)
        return
      case 'messageEnd':
        this.#messageEnded(event)
        return
      case 'approvalRequested':
      case 'approvalResolved':
      case 'clientCallRequested':
      case 'clientCallResolved':
      case 'toolExecutionStart':
      case 'toolExecutionUpdate':
      case 'toolExecutionEnd':
        this.#goOn()
        this.#loops.add(event.loopId)
        this.#calls.take(event)
        return
      case 'turnEnd':
        this.#endStep()
        return
      case 'agentEnd':
        this.#ended(event)
        return
      case 'parallelLoopEnd':
        this.#branchChosen(event.selectedLoopId)
        return
      default:
        if (event.type === 'parallelLoopStart') this.#branches.begin(event.loopIds)
        if (event.type === 'providerRetry' && event.afterOutput) this.#reset()
        // Notes, and events of a newer version.
        this.#note(event)
    }
  }

  /** What has no counterpart, for `onData` of the page; it stays in no message. */
  #note(event: AgentEvent): void {
    if (!isWithheld(event, {})) this.#out.push(noteOf(event))
  }

  #begin(messageId: string, loopId: string): void {
    this.#goOn(messageId)
    this.#loops.add(loopId)
    this.#live = messageId
    this.#message.begin()
    if (this.#hasFailed) this.#reset()
    if (this.#isStepOpen) return
    this.#isStepOpen = true
    this.#steps += 1
    this.#hasCalls = false
    this.#send({ type: 'start-step' })
  }

  #delta({ messageId, delta }: MessageUpdateEvent): void {
    // Of a message whose beginning was missed: it is shown whole at its end.
    if (this.#live !== messageId) return
    this.#message.delta(delta, this.#steps)
  }

  #messageEnded({ messageId, message, loopId }: MessageEndEvent): void {
    if (message.role === 'assistant') {
      this.#answered(messageId, message, loopId)
      return
    }
    if (message.role === 'toolResult') this.#loops.add(loopId)
    if (message.role !== 'user') return
    if (this.#id === undefined && !this.#loops.has(loopId)) {
      this.#beginAnswer()
      return
    }
    this.#goOn()
    this.#send(interjection({ ...message, id: messageId }))
  }

  /** Somebody has said something: the run does not go on with the answer that the history ends with. */
  #beginAnswer(): void {
    this.#earlier = undefined
    this.#loops = new AnswerLoops()
    this.#metadata = undefined
    this.#steps = 0
    this.#hasCalls = false
    this.#message.clear()
  }

  #answered(messageId: string, message: AssistantMessage, loopId: string): void {
    if (this.#live !== messageId) this.#begin(messageId, loopId)
    this.#message.complete(message, this.#steps)
    this.#live = undefined
    this.#hasCalls = hasCallsToAnswer(message.content)
    this.#hasFailed = message.stopReason === 'error'
    this.#stopReason = message.stopReason
    this.#metadata = metadataAfter(this.#metadata, message, this.#cost)
    this.#send({ type: 'message-metadata', messageMetadata: this.#metadata })
  }

  /** What the failed answer has shown is taken back. */
  #reset(): void {
    this.#hasFailed = false
    if (!this.#isStepOpen) return
    this.#message.takeBack(this.#steps)
    this.#send({ type: 'reset-step' })
  }

  #endStep(): void {
    if (!this.#isStepOpen) return
    this.#isStepOpen = false
    this.#hasFailed = false
    this.#send({ type: 'finish-step' })
  }

  #ended(event: AgentEndEvent): void {
    const { status, error, rejection, limit } = event
    this.#message.close()
    if (status === 'paused') this.#message.holdBack()
    else this.#calls.close()
    if (!asksPage(event)) this.#closeCalls()
    const problem = error?.message ?? rejection
    const ending = endingOf(event)
    if (problem !== undefined) this.#fail(problem, ending)
    if (status === 'aborted') this.#send({ type: 'abort' })
    if (limit !== undefined) this.#out.push({ type: 'data-phi-limit', data: limit, transient: true })
    this.#finish(reasons[status] ?? finishReasonOf(this.#stopReason), ending)
  }

  /** Ends the step of calls that nobody is asked about. The end of the response has metadata: with that the hook takes the step in. */
  #closeCalls(): void {
    if (!this.#hasCalls || this.#id === undefined) return
    this.#endStep()
    this.#send({ type: 'start-step' })
    this.#isStepOpen = true
    this.#hasCalls = false
  }

  /** The hook reads nothing after an error. */
  #fail(errorText: string, metadata?: Partial<UiMetadata>): void {
    this.#message.close()
    this.#endStep()
    if (this.#id !== undefined && metadata !== undefined) this.#send({ type: 'message-metadata', messageMetadata: metadata })
    this.#send({ type: 'error', errorText })
  }

  #finish(finishReason: UiFinishReason, metadata?: Partial<UiMetadata>): void {
    this.#message.close()
    this.#endStep()
    // Without a message there is nothing to tell it of, and the hook would make an empty one.
    const told = this.#id === undefined || metadata === undefined ? {} : { messageMetadata: metadata }
    this.#send({ type: 'finish', finishReason, ...told })
    this.#isEnded = true
  }

  #takeOfBranch(event: AgentEvent): void {
    if (event.type === 'agentEnd') this.#branches.keep(event)
    else if (event.type === 'approvalRequested' || event.type === 'approvalResolved') this.#calls.take(ofBranch(event))
    else if (event.type === 'toolExecutionEnd') this.#calls.take({ ...event, toolCallId: `${event.loopId}/${event.toolCallId}` })
  }

  /** Shows the chosen branch whole. A run of branches has no `agentEnd`. */
  #branchChosen(loopId: string): void {
    this.#calls.close()
    for (const message of this.#branches.messagesOf(loopId)) {
      if (message.role === 'assistant') {
        this.#endStep()
        this.#answered(message.id, message, loopId)
      } else if (message.role === 'toolResult') this.#calls.ended({ ...message, result: message })
    }
    this.#calls.close()
    this.#closeCalls()
    this.#finish(finishReasonOf(this.#stopReason), {})
  }
}
