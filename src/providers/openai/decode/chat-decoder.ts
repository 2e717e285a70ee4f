import { parseArguments } from '../../../base/json/call-arguments.ts'
import { ProviderError } from '../../../contract/errors.ts'
import type { JsonObject, JsonValue } from '../../../contract/json.ts'
import type { ProviderState } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/identity.ts'
import type { AssistantMessage, StopReason } from '../../../contract/message/message.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import { emptyUsage, type Usage } from '../../../contract/model/usage.ts'
import { createSseDecoder, type SseDecoder } from '../../../stream/sse.ts'
import type { DecoderContext } from '../../kit/codec.ts'
import { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import {
  filledContext,
  isMarker,
  parsedEvent,
  type StreamDecoder,
  StreamRefusal,
  secondMessage,
  tokenCount,
} from '../../kit/decode/decoder.ts'
import { textOfArguments } from '../../kit/decode/parse-call.ts'
import { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { fieldsIn, indexIn, nameIn, OddValue, objectIn, objectsIn, textIn } from '../../kit/decode/wire-value.ts'
import type { ChatCall } from '../encode-request.ts'
import { type ReceivedField, reasoningFieldIn, reasoningIn, type ThinkingState } from '../thinking-fields.ts'
import { ChatExtras } from './chat-extras.ts'
import { ReasoningDetails } from './reasoning-details.ts'
import { ThinkTags } from './think-tags.ts'
import { ToolCallKeys } from './tool-call-keys.ts'
import { isFailure, known, knownOfCalls, stopReasonOf } from './vocabulary.ts'
import {
  type ChatChoice,
  type ChatChunk,
  type ChatContentPart,
  type ChatDelta,
  type ChatToolCall,
  type ChatUsage,
  laterReport,
  reportIn,
  usageOf,
} from './wire.ts'

/**
 * Decodes a Chat Completions stream from OpenAI or a compatible backend.
 *
 * **Contract**
 * - A `finish_reason` completes the message. `[DONE]` or the end of the body ends the stream. For backends that send only `[DONE]`, it also
 *   completes a message with content.
 * - Reads reasoning from the first non-empty field in `thinking-fields.ts`, otherwise from `reasoning_details`. The thinking block records
 *   the source.
 * - Converts a leading `<think>` in the text to reasoning for models that use this format.
 * - A refusal sets the message's `refusal` and the stop reason `guardRail`.
 *
 * Source: docs/providers/openai.md
 */
export class ChatDecoder implements StreamDecoder {
  readonly builder: AssistantBuilder
  readonly terminal = 'finish_reason'
  progress = 0
  readonly #model: ModelConfig
  readonly #service: string
  readonly #isReasoningOutside: boolean
  /** Id of the only call, in the oldest form of the protocol. */
  readonly #legacyId = newId()
  readonly #sse: SseDecoder
  readonly #extras: ChatExtras
  readonly #unknown: UnknownFields
  #hasOthers = false
  readonly #calls = new ToolCallKeys()
  readonly #details = new ReasoningDetails()
  /** Provider-specific fields of calls. */
  readonly #fields = new Map<number, JsonObject>()
  #textKey = ''
  #thinkingKey = ''
  #hasDetails = false
  /** Source of the current thinking block. */
  #thinkingState: ThinkingState = {}
  #tags: ThinkTags | undefined
  #open: 'text' | 'thinking' | 'toolCall' | undefined
  #blocks = 0
  #isRefusal = false
  #hasDeltas = false
  /** The last call, while it has no arguments. */
  #emptyCall: number | undefined
  #finishReason: string | undefined
  /** Id of the last chunk before the stop reason. Some providers change the id with every chunk. */
  #id: string | undefined
  #sawDone = false
  #report: ChatUsage | undefined
  #usage: Usage | undefined

  constructor(call: Pick<ChatCall, 'isReasoningOutside' | 'hasThinkTags' | 'answerTool'>, context: DecoderContext) {
    const { request, service, emit } = context
    this.#model = request.model
    this.#service = service
    this.#isReasoningOutside = call.isReasoningOutside
    this.builder = new AssistantBuilder(request.model, emit, call.answerTool)
    if (call.hasThinkTags) this.#tags = this.#tagReader()
    this.#unknown = new UnknownFields(this.builder)
    this.#extras = new ChatExtras(this.builder, (payload) => this.#stateOf(payload), this.#unknown)
    this.#sse = createSseDecoder((data, event) => this.#frame(data, event), context.framing)
  }

  get isComplete(): boolean {
    return this.#finishReason !== undefined || (this.#sawDone && this.builder.message.content.length > 0)
  }

  get isDone(): boolean {
    return this.#sawDone
  }

  push(bytes: Uint8Array): void {
    this.#sse.feed(bytes)
  }

  end(): void {
    this.#sse.end()
  }

  finish(): AssistantMessage {
    const reason = this.#finishReason
    if (reason !== undefined && isFailure(reason)) {
      const message = `${this.#service} aborted the response mid-stream (finish_reason "${reason}"). Retry.`
      throw new ProviderError(reason === 'network_error' ? 'network' : 'api', message, { isRetryable: true })
    }
    this.#endTags()
    // The call has no end event, so arguments may be missing.
    if (reason === undefined && this.#emptyCall !== undefined) this.builder.cutCall(this.#emptyCall)
    this.#extras.tell(this.#textKey === '' ? 'sources' : this.#textKey)
    const message = this.builder.finish(this.#stopReason(), this.#usage ?? emptyUsage())
    if (message.stopReason === 'error') message.errorMessage = `${this.#service} stopped with finish_reason "${reason}".`
    // z.ai reports an overflow with this reason.
    return reason === 'model_context_window_exceeded' ? filledContext(message) : message
  }

  #stopReason(): StopReason {
    const stopReason = this.#finishReason === undefined ? 'stop' : stopReasonOf(this.#finishReason)
    if (this.#isRefusal && stopReason === 'stop') return 'guardRail'
    // The builder converts "stop" to "toolUse" if there are calls.
    return stopReason === 'toolUse' ? 'stop' : stopReason
  }

  #frame(data: string, event: string | undefined): void {
    if (this.#sawDone) return
    const marker = isMarker(data)
    if (marker === 'done') this.#sawDone = true
    if (marker !== undefined) return
    const parsed = parsedEvent<ChatChunk | (ChatChunk | null)[] | null>(data, this.#service)
    if (event === 'error') throw new StreamRefusal(Array.isArray(parsed) ? parsed[0] : parsed)
    if (Array.isArray(parsed)) for (const chunk of objectsIn(parsed, 'chunks')) this.#chunk(chunk)
    else this.#chunk(fieldsIn(parsed, 'a chunk') ?? {})
  }

  #chunk(chunk: ChatChunk): void {
    if (chunk.error || chunk.object === 'error' || chunk.base_resp?.status_code) throw new StreamRefusal(chunk)
    if (this.builder.message.responseId === undefined) this.builder.answeredBy(chunk.id, chunk.model)
    this.builder.start()
    if ((chunk.citations ?? chunk.search_results ?? chunk.service_tier) != null) this.#extras.chunk(chunk)
    const usage = reportIn(chunk)
    if (usage) this.#setUsage(usage)
    this.#unknown.look(chunk, known.chunk)
    const choices = objectsIn(chunk.choices, 'choices')
    const first = choices.find(isOurs)
    if (first === undefined) {
      if (choices.length > 0) this.#warnOfOthers()
      return
    }
    // Some gateways send each block of a response as a separate choice: text, then the calls.
    const isEmpty = this.builder.message.content.length === 0
    for (const choice of choices) {
      if (choice === first || indexIn(choice.index) === 0) this.#choice(choice, chunk, isEmpty)
      else this.#warnOfOthers()
    }
  }

  /** `isEmpty`: no content arrived before this chunk. */
  #choice(choice: ChatChoice, chunk: ChatChunk, isEmpty: boolean): void {
    this.#unknown.look(choice, known.choice)
    if (choice.error) throw new StreamRefusal({ error: choice.error })
    const delta = fieldsIn(choice.delta, 'a delta')
    const message = fieldsIn(choice.message, 'a message')
    if (this.#finishReason === undefined) this.#id = chunk.id
    else if (delta?.content && chunk.id !== this.#id) throw secondMessage(this.#service)
    const before = this.progress
    if (choice.logprobs) this.#extras.choice(choice)
    if (delta) {
      this.#delta(delta)
      this.#unknown.look(delta, known.delta)
      if (hasExtras(delta) && this.#extras.delta(delta)) this.progress++
    }
    if (this.progress > before) this.#hasDeltas = true
    // After deltas, `message` repeats the response, as does a final object that is not a chunk.
    if (message && !this.#hasDeltas && (chunk.object !== 'chat.completion' || isEmpty)) {
      this.#delta(message)
      this.#extras.delta(message)
      this.#unknown.look(message, known.delta)
    }
    if (choice.usage) this.#setUsage(choice.usage)
    const reason = choice.finish_reason
    if (typeof reason === 'string' && reason !== '') {
      // A repetition does not count as progress, because it may be a ping.
      if (this.#finishReason === undefined) this.progress++
      // A truncated choice stays truncated, even if another choice is complete.
      if (this.#finishReason !== 'length') this.#finishReason = reason
    }
  }

  #warnOfOthers(): void {
    if (!this.#hasOthers) this.builder.warn('The provider sent several responses. All but the first were dropped.')
    this.#hasOthers = true
  }

  #setUsage(raw: ChatUsage): void {
    if (this.#usage !== undefined && !isReport(raw)) return
    this.#report = laterReport(this.#report, raw)
    this.#usage = usageOf(this.#report, this.#isReasoningOutside)
    // Set immediately, so that a message that fails later has its usage.
    this.builder.message.usage = this.#usage
  }

  #delta(delta: ChatDelta): void {
    const { content, refusal, tool_calls: calls, function_call: legacy } = delta
    const field = reasoningFieldIn(delta)
    if (field !== undefined || delta.reasoning_details) this.#reasoning(delta, field)
    if (Array.isArray(content)) for (const part of objectsIn(content, 'parts')) this.#part(part)
    else this.#written(textIn(content, 'text'))
    if (refusal) {
      this.#endTags()
      this.#isRefusal = true
      this.builder.refusal('refusal', textIn(refusal, 'a refusal'))
    }
    if (calls) for (const call of listOf(calls)) this.#toolCall(call)
    const oldest = objectIn(legacy, 'a call')
    if (oldest !== undefined) this.#toolCall({ id: this.#legacyId, function: oldest })
  }

  #reasoning(delta: ChatDelta, field: ReturnType<typeof reasoningFieldIn>): void {
    this.#endTags()
    const text = field === undefined ? '' : textIn(reasoningIn(delta, field), 'reasoning')
    const details = delta.reasoning_details
    if (Array.isArray(details) && details.length > 0) {
      const shown = this.#details.add(details)
      if (!this.#hasDetails) this.#keepDetails(field)
      this.progress++
      // Text in the reasoning field repeats the text of the details.
      this.#thinking(text === '' ? shown : text, field)
    } else this.#thinking(text, field)
  }

  /** Stores all details on the first thinking block, because requests contain them as one list. */
  #keepDetails(field: ReceivedField | undefined): void {
    this.#hasDetails = true
    if (this.#open !== 'thinking') this.#openThinking(field)
    this.#thinkingState.reasoningDetails = this.#details.entries
    this.builder.setProviderState(this.#thinkingKey, this.#stateOf(this.#thinkingState))
  }

  #openThinking(field: ReceivedField | undefined): void {
    this.#open = 'thinking'
    this.#thinkingKey = `thinking${this.#blocks++}`
    this.#thinkingState = field === undefined ? {} : { field }
    if (field !== undefined) this.builder.setProviderState(this.#thinkingKey, this.#stateOf(this.#thinkingState))
  }

  #stateOf(payload: JsonObject): ProviderState {
    return { api: 'openAiCompletions', model: this.#model.id, payload }
  }

  /** Adds text that may contain reasoning. */
  #written(delta: string): void {
    if (this.#tags === undefined || delta === '') {
      this.#text(delta)
      return
    }
    this.progress++
    this.#tags.push(delta)
    if (this.#tags.isOver) this.#tags = undefined
  }

  #endTags(): void {
    this.#tags?.end()
    this.#tags = undefined
  }

  #tagReader(): ThinkTags {
    return new ThinkTags({
      begins: (before) => {
        this.#openThinking('thinkTags')
        this.#thinkingState.before = before
      },
      thinking: (text) => this.#thinking(text, 'thinkTags'),
      ends: (after) => {
        this.#thinkingState.after = after
      },
      text: (text) => this.#text(text),
    })
  }

  #text(delta: string): void {
    if (delta === '') return
    if (this.#open !== 'text') {
      this.#open = 'text'
      this.#textKey = `text${this.#blocks++}`
    }
    this.progress++
    this.builder.text(this.#textKey, delta)
  }

  /** Adds reasoning. A change of source starts a new block, because each block is sent back in its source field. */
  #thinking(delta: string, field?: ReceivedField): void {
    if (delta === '') return
    const isOther = field !== undefined && this.#thinkingState.field !== undefined && field !== this.#thinkingState.field
    if (this.#open !== 'thinking' || isOther) this.#openThinking(field)
    this.progress++
    this.builder.thinking(this.#thinkingKey, delta)
  }

  #part(part: ChatContentPart): void {
    this.#endTags()
    if (part.type === 'thinking') this.#thinking(textIn(part.thinking, 'reasoning'), 'parts')
    else if (part.text === undefined && part.type !== undefined && part.type !== 'text') this.#extras.part(part.type, part)
    else this.#text(textIn(part.text, 'text'))
  }

  #keepField(key: number, field: string, value: JsonValue): void {
    if (value === null) return
    let fields = this.#fields.get(key)
    if (fields === undefined) {
      fields = {}
      this.#fields.set(key, fields)
      this.builder.setProviderState(key, this.#stateOf({ fields }))
    }
    fields[field] = value
  }

  #toolCall(call: ChatToolCall): void {
    const id = nameIn(call.id, 'the id of a call')
    const { name: named, arguments: args } = objectIn(call.function, 'a call') ?? call
    if ((call.index ?? id ?? named ?? args ?? call.function) === undefined) throw new OddValue('a call', call)
    const name = nameIn(named, 'the name of a tool')
    this.#endTags()
    this.#open = 'toolCall'
    this.progress++
    const fragment = textOfArguments(args)
    const isAnonymous = indexIn(call.index) === undefined && !id && !!name && fragment !== ''
    if (isAnonymous && this.#calls.named(name).some((key) => this.#isWhole(key, fragment))) return
    const { key, isNew } = this.#calls.keyOf(indexIn(call.index), id, name)
    if (isNew || id !== undefined || name) this.builder.toolCall(key, id, name)
    for (const field in call) if (!knownOfCalls.has(field)) this.#keepField(key, field, Reflect.get(call, field))
    if (!isNew && id !== undefined && fragment !== '' && this.#isWhole(key, fragment)) return
    this.#emptyCall = fragment.trim() === '' && (isNew || this.#emptyCall === key) ? key : undefined
    this.builder.toolArguments(key, fragment)
  }

  /**
   * Returns whether `fragment` repeats a call's complete arguments. Some backends send this repetition at the end. Nothing can follow
   * complete arguments.
   */
  #isWhole(key: number, fragment: string): boolean {
    return fragment === this.builder.written(key) && parseArguments(fragment).fault === undefined
  }
}

/** Returns whether a delta has content other than text, reasoning and calls. */
function hasExtras({ annotations, images, audio, executed_tools: executed }: ChatDelta): boolean {
  return Boolean(annotations ?? images ?? audio ?? executed)
}

/** Returns whether a choice is the first choice. The decoder ignores all others. */
function isOurs({ index }: ChatChoice): boolean {
  return (indexIn(index) ?? 0) === 0
}

/** Converts a `tool_calls` value to a list. Some backends send a single object, or an object with numeric keys. */
function listOf(calls: NonNullable<ChatDelta['tool_calls']>): readonly ChatToolCall[] {
  if (Array.isArray(calls) || typeof calls !== 'object') return objectsIn(calls, 'calls')
  return 'function' in calls || 'name' in calls ? [calls] : objectsIn(Object.values(calls), 'calls')
}

/** Returns whether a usage object contains any nonzero count. */
function isReport(raw: ChatUsage): boolean {
  return [raw.prompt_tokens, raw.completion_tokens, raw.total_tokens].some((count) => tokenCount(count) > 0)
}
