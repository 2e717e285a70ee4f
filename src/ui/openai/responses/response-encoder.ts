import type { AgentMessage } from '../../../contract/message/message.ts'
import type { Usage } from '../../../contract/model/usage.ts'
import type { AgentEndEvent, AgentEvent } from '../../../contract/run/event.ts'
import type { PendingApproval } from '../../../contract/run/run-facts.ts'
import { checkOptions } from '../../../contract/shape/read.ts'
import { aFlag, aNumber, anObject, anything, aText, options as optionsOf, required } from '../../../contract/shape/shape.ts'
import { approvalIdOf } from '../../shared/client-input.ts'
import type { RunEncoder } from '../../shared/encoding.ts'
import { AnswerCalls, type AnswerEnd, AnswerFold, AnswerMessage, type AnswerStepsOptions } from '../shared/answer-fold.ts'
import type { RunFailed } from '../shared/failure.ts'
import { type NamedItem, OutputWriter } from './output-writer.ts'
import { type NamedResponse, referenceTo, type SessionPlace } from './reference.ts'
import { noEcho, type ResponseEcho, type ResponseEvent, type ResponseEventBody, type ResponseObject, responseUsage } from './response.ts'

/** Options for a response encoder. */
export interface ResponseEncoderOptions extends AnswerStepsOptions {
  /** Agent name. */
  model: string
  /** Epoch seconds. */
  created: number
  echo: ResponseEcho
  /**
   * Whether the run belongs to a stored session. If so, ids contain the session, so that later requests can continue it. Default: `false`.
   */
  isStored?: boolean
}

/** Encodes one run as the events of one response. */
export interface ResponseEncoder extends RunEncoder<ResponseEvent> {
  /** Why the run ended without a response. */
  readonly failure: RunFailed | undefined
}

const encoderOptions = optionsOf<ResponseEncoderOptions>({
  model: required(aText),
  created: required(aNumber),
  echo: required(anObject),
  isStored: aFlag,
  given: anything,
  isWhole: aFlag,
})

/**
 * Creates an encoder that converts a run to a response of OpenAI's Responses API.
 *
 * **Contract**
 * - Each model response becomes a message item, and its reasoning a separate item. Calls to the caller's tools become `function_call`. A
 *   pending approval becomes `mcp_approval_request`, which the API uses for server-run tools. All other calls are omitted.
 * - The last event contains the complete response. For a request without `stream`, set `isWhole` and send this response as the body.
 * - Pure: reads no clock, and derives ids from the run's ids. Throws only for unknown options.
 *
 * Source: docs/guides/openai-endpoint.md
 */
export function responseEncoder(options: ResponseEncoderOptions): ResponseEncoder {
  checkOptions(options, encoderOptions)
  return new Encoder(options)
}

/** Recorded data of a response's loop. */
export interface RecordedAnswer
  extends Pick<AgentEndEvent, 'status' | 'usage' | 'error' | 'rejection' | 'pendingApprovals' | 'pendingClientCalls'> {
  /** Messages that the loop added, in order. */
  messages: readonly AgentMessage[]
  /** Whether the loop is still running. If so, there is no response yet. */
  isOn: boolean
}

/**
 * Rebuilds a stored response from its session's log, including the current progress of a running loop. Request fields other than the model
 * are not stored. `created` is in epoch seconds.
 */
export function recordedResponse(named: NamedResponse, answer: RecordedAnswer, created: number): ResponseObject {
  const options = { model: named.model, created, echo: noEcho, isStored: true, isWhole: true }
  return new Encoder(options).recorded(named, answer)
}

/** Ids of the run, and the `seq` of the response's first event. */
interface RunPlace extends SessionPlace {
  runId: string
  seq: number
}

class Encoder extends AnswerFold<ResponseEvent, ResponseEncoderOptions> implements ResponseEncoder {
  protected readonly writer = new OutputWriter(
    (event) => this.#send(event),
    (kind, index) => this.#name(kind, index),
  )
  protected readonly message = new AnswerMessage(this.writer, this.options)
  protected readonly calls = new AnswerCalls(this.writer, (pending) => this.#asked(pending))
  #number = 0
  #answersBefore = 0
  #place: RunPlace | undefined

  protected override take(event: AgentEvent): void {
    if (this.#place === undefined) this.#begin(event)
    super.take(event)
  }

  /** Rebuilds the complete response from the loop's recorded data. */
  recorded({ sessionId, loopId, seq, answersBefore }: NamedResponse, { messages, isOn, ...end }: RecordedAnswer): ResponseObject {
    this.#answersBefore = answersBefore
    this.#place = { sessionId, loopId, runId: loopId, seq }
    if (isOn) return this.#response('in_progress')
    const base = { sessionId, loopId, runId: loopId, seq, at: 0 }
    const answers = messages.filter(({ role }) => role === 'assistant').slice(answersBefore)
    for (const message of answers) this.encode({ ...base, type: 'messageEnd', messageId: message.id, message })
    const last = this.encode({ ...base, type: 'agentEnd', messages: [], ...end }).at(-1)
    return last !== undefined && 'response' in last ? last.response : this.#response('failed')
  }

  override skip(event: AgentEvent): void {
    if (event.type === 'messageEnd' && event.message.role === 'assistant') this.#answersBefore += 1
    // Do not start a response, because the caller has already received this event.
    this.#place ??= event
    super.skip(event)
  }

  protected override forget(): void {
    super.forget()
    this.#place = undefined
    this.#number = 0
  }

  #begin({ sessionId, loopId, runId, seq }: AgentEvent): void {
    this.#place = { sessionId, loopId, runId, seq }
    this.#send({ type: 'response.created', response: this.#response('in_progress') })
    this.#send({ type: 'response.in_progress', response: this.#response('in_progress') })
  }

  #asked(pending: PendingApproval): void {
    // Without a stored session, the caller could not continue the run.
    if (!this.options.isStored || this.#place === undefined) return
    const id = referenceTo('mcpr', this.#place, approvalIdOf(pending))
    const { toolName: name, args } = pending
    this.writer.whole({ type: 'mcp_approval_request', id, server_label: this.options.model, name, arguments: JSON.stringify(args) })
  }

  protected override failed({ error: { code, message } }: RunFailed, used: Usage): void {
    this.writer.close('incomplete')
    const error = { code: code ?? 'server_error', message }
    this.#send({ type: 'response.failed', response: { ...this.#response('failed'), error, usage: responseUsage(used) } })
  }

  protected override finish(end: AnswerEnd, used: Usage): void {
    this.writer.close()
    const status = end === 'stop' ? 'completed' : 'incomplete'
    const response = { ...this.#response(status), usage: responseUsage(used) }
    if (end !== 'stop') response.incomplete_details = { reason: end === 'length' ? 'max_output_tokens' : end }
    this.#send({ type: `response.${status}`, response })
  }

  #response(status: ResponseObject['status']): ResponseObject {
    const { model, created, echo, isStored = false } = this.options
    return {
      id: this.#name('resp', this.#place?.seq ?? 0),
      object: 'response',
      created_at: created,
      status,
      error: null,
      incomplete_details: null,
      model,
      output: [...this.writer.items],
      ...echo,
      store: isStored,
      usage: null,
      ...(isStored && { conversation: { id: this.#place?.sessionId ?? '' } }),
    }
  }

  #name(kind: NamedItem | 'resp', index: number): string {
    const place = this.#place
    if (place === undefined) return `${kind}_${index}`
    if (kind === 'resp')
      return this.options.isStored ? referenceTo(kind, place, index, this.#answersBefore, this.options.model) : `${kind}_${place.runId}`
    return this.options.isStored ? referenceTo(kind, place, place.seq, index) : `${kind}_${place.runId}_${index}`
  }

  #send(event: ResponseEventBody): void {
    this.out.push({ ...event, sequence_number: this.#number })
    this.#number += 1
  }
}

/** Formats an event as a server-sent event. */
export function responseSse(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
