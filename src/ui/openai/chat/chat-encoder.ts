import type { AssistantMessage } from '../../../contract/message/message.ts'
import { emptyUsage, type Usage } from '../../../contract/model/usage.ts'
import type { AgentEndEvent, AgentEvent } from '../../../contract/run/event.ts'
import type { PendingApproval } from '../../../contract/run/run-facts.ts'
import { checkOptions } from '../../../contract/shape/read.ts'
import { aFlag, aNumber, anything, aText, options as optionsOf, required } from '../../../contract/shape/shape.ts'
import type { WaitingForPerson } from '../../shared/open-calls.ts'
import { type AnswerStep, AnswerSteps, type AnswerStepsOptions, type SaidStep, urlCitation } from '../shared/answer-steps.ts'
import { brokenOff, failureOf, type RunFailed } from '../shared/failure.ts'
import { type ChatChunk, type ChatDelta, type ChatFinishReason, chatUsage, type ErrorChunk } from './chat-completion.ts'

/** What a chat completion says of itself, and what its encoder has to know. */
export interface ChatEncoderOptions extends AnswerStepsOptions {
  id: string
  /** The name of the agent. */
  model: string
  /** Epoch seconds. */
  created: number
  /** Whether the last chunk says what was used; with `isWhole` it always does. Default `false`. */
  includeUsage?: boolean
}

/** Turns the events of one run into the chunks of one chat completion. */
export interface ChatEncoder {
  encode(event: AgentEvent): (ChatChunk | ErrorChunk)[]
  /** Takes note of an event that the caller has seen in an answer before this one. */
  skip(event: AgentEvent): void
  /** Whether the run waits for the caller, who answers in another request: end the answer with `suspend`. */
  readonly waiting: WaitingForPerson
  suspend(): (ChatChunk | ErrorChunk)[]
  /** The last chunks when the events have ended without `agentEnd`; none after it. */
  end(): (ChatChunk | ErrorChunk)[]
  /** The last chunks when the events could not be read on; none after `agentEnd`. */
  fail(error: unknown): (ChatChunk | ErrorChunk)[]
  /** Why there is no answer, once the run has ended so. */
  readonly failure: RunFailed | undefined
}

const encoderOptions = optionsOf<ChatEncoderOptions>({
  id: required(aText),
  model: required(aText),
  created: required(aNumber),
  includeUsage: aFlag,
  given: anything,
  isWhole: aFlag,
})

/**
 * Encodes a run as a chat completion of OpenAI's API.
 *
 * **Contract**
 * - All that the run says is one answer: texts of several turns stand one after the other, with an empty line between them. Calls of the caller's tools end it.
 * - The agent's own calls are not told, nor is what they ask: there are no words for that. Deny them, or answer `waiting` with `suspend`.
 * - With `isWhole` give the chunks to `chatCompletionOf`. Pure: no clock, no ids of its own. Throws only for options that there are not.
 *
 * Source: docs/openai-endpoint.md
 */
export function chatCompletionEncoder(options: ChatEncoderOptions): ChatEncoder {
  checkOptions(options, encoderOptions)
  return new Encoder(options)
}

class Encoder implements ChatEncoder {
  readonly #options: ChatEncoderOptions
  readonly #steps: AnswerSteps
  #out: (ChatChunk | ErrorChunk)[] = []
  #isBegun = false
  #isEnded = false
  /** Units of text that were told. */
  #said = 0
  /** The text that is told: of which message, which block of it, and where it begins. */
  #speaker: { messageId: string; contentIndex: number; start: number } | undefined
  #calls = 0
  #last: AssistantMessage | undefined
  failure: RunFailed | undefined

  constructor(options: ChatEncoderOptions) {
    this.#options = options
    this.#steps = new AnswerSteps(options)
  }

  get waiting(): WaitingForPerson {
    return this.#steps.waiting
  }

  encode(event: AgentEvent): (ChatChunk | ErrorChunk)[] {
    if (this.#isEnded) return []
    this.#out = []
    for (const step of this.#steps.take(event)) this.#tell(step)
    return this.#out
  }

  skip(event: AgentEvent): void {
    this.#steps.take(event)
    this.#steps.usage = emptyUsage()
  }

  suspend(): (ChatChunk | ErrorChunk)[] {
    return this.#ending(() => this.#finish(this.#calls > 0 ? 'tool_calls' : 'stop', this.#steps.usage))
  }

  end(): (ChatChunk | ErrorChunk)[] {
    return this.fail(undefined)
  }

  fail(_error: unknown): (ChatChunk | ErrorChunk)[] {
    return this.#ending(() => this.#fail({ status: 500, error: brokenOff }))
  }

  #ending(write: () => void): (ChatChunk | ErrorChunk)[] {
    if (this.#isEnded) return []
    this.#out = []
    write()
    return this.#out
  }

  #tell(step: AnswerStep): void {
    switch (step.type) {
      case 'text':
        this.#text(step)
        return
      case 'reasoning':
        this.#send({ reasoning_content: step.delta })
        return
      case 'cited':
        this.#cited(step)
        return
      case 'picture':
        this.#send({ images: [{ type: 'image_url', image_url: { url: `data:${step.mimeType};base64,${step.data}` } }] })
        return
      case 'answered':
        this.#answered(step.message)
        return
      case 'call':
        this.#call(step.call)
        return
      case 'approval':
        return
      case 'end':
        this.#ended(step.event)
    }
  }

  #text({ messageId, contentIndex, delta }: SaidStep): void {
    const isNext = this.#speaker !== undefined && this.#speaker.messageId !== messageId
    const content = isNext ? `\n\n${delta}` : delta
    const start = this.#said + content.length - delta.length
    if (isNext || this.#speaker?.contentIndex !== contentIndex) this.#speaker = { messageId, contentIndex, start }
    this.#said += content.length
    this.#send({ content })
  }

  #cited({ messageId, contentIndex, citation }: Extract<AnswerStep, { type: 'cited' }>): void {
    const speaker = this.#speaker
    const isOfIt = speaker?.messageId === messageId && speaker.contentIndex === contentIndex
    const cited = isOfIt ? urlCitation(citation, speaker.start, this.#said) : undefined
    if (cited === undefined) return
    const { type, ...place } = cited
    this.#send({ annotations: [{ type, url_citation: place }] })
  }

  #answered(message: AssistantMessage): void {
    this.#last = message
    if (message.refusal !== undefined && message.stopReason === 'guardRail') this.#send({ refusal: message.refusal })
  }

  #call({ toolCallId: id, toolName: name, arguments: args }: PendingApproval): void {
    this.#send({ tool_calls: [{ index: this.#calls, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }] })
    this.#calls += 1
  }

  #ended(event: AgentEndEvent): void {
    const failure = failureOf(event)
    if (failure !== undefined) {
      this.#fail(failure)
      return
    }
    this.#finish(this.#reason(event), event.totalUsage ?? event.usage)
  }

  #reason({ status }: AgentEndEvent): ChatFinishReason {
    if (this.#calls > 0) return 'tool_calls'
    if (status === 'limit' || this.#last?.stopReason === 'length') return 'length'
    return this.#last?.stopReason === 'guardRail' ? 'content_filter' : 'stop'
  }

  #fail(failure: RunFailed): void {
    this.failure = failure
    this.#isEnded = true
    this.#out.push({ error: failure.error })
  }

  #finish(reason: ChatFinishReason, used: Usage): void {
    this.#send({}, reason)
    this.#isEnded = true
    if (this.#options.includeUsage || this.#options.isWhole) this.#out.push({ ...this.#head(), choices: [], usage: chatUsage(used) })
  }

  #send(delta: ChatDelta, reason: ChatFinishReason | null = null): void {
    if (!this.#isBegun) {
      this.#isBegun = true
      this.#send({ role: 'assistant', content: '' })
    }
    const { includeUsage = false } = this.#options
    const choice = { index: 0 as const, delta, logprobs: null, finish_reason: reason }
    this.#out.push({ ...this.#head(), choices: [choice], ...(includeUsage && { usage: null }) })
  }

  #head(): Pick<ChatChunk, 'id' | 'object' | 'created' | 'model'> {
    const { id, model, created } = this.#options
    return { id, object: 'chat.completion.chunk', created, model }
  }
}

/** One chunk as a server-sent event. */
export function openAiSse(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** What a stream of chunks ends with. */
export const chatStreamEnd = 'data: [DONE]\n\n'
