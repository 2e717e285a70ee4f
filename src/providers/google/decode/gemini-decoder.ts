import { ProviderError } from '../../../contract/errors.ts'
import { type JsonObject, ownOf } from '../../../contract/json.ts'
import type { ProviderState } from '../../../contract/message/content.ts'
import type { AssistantMessage, StopReason } from '../../../contract/message/message.ts'
import { createSseDecoder, type SseDecoder } from '../../../stream/sse.ts'
import type { DecoderContext, EncodedCall } from '../../kit/codec.ts'
import { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { isMarker, parsedEvent, type StreamDecoder, StreamRefusal, secondMessage } from '../../kit/decode/decoder.ts'
import { textOfArguments } from '../../kit/decode/parse-call.ts'
import { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { indexIn, nameIn, OddValue, objectIn, objectsIn, textIn, wordIn } from '../../kit/decode/wire-value.ts'
import { type GeminiCall, type GeminiCandidate, type GeminiChunk, type GeminiPart, type GeminiUsage, TokenCounts } from '../wire.ts'
import { Grounding } from './grounding.ts'
import { contentsIn, isPlainText, knownOfParts, splitPart } from './part-contents.ts'
import { PartialArguments } from './partial-arguments.ts'
import { newCallId, ServiceParts } from './service-parts.ts'

/** All other reasons are failures. */
const stopReasons: { readonly [reason: string]: StopReason } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  // The provider stopped but sent no continuation token.
  CONTINUATION: 'length',
  SAFETY: 'guardRail',
  RECITATION: 'guardRail',
  BLOCKLIST: 'guardRail',
  PROHIBITED_CONTENT: 'guardRail',
  SPII: 'guardRail',
  IMAGE_SAFETY: 'guardRail',
  IMAGE_PROHIBITED_CONTENT: 'guardRail',
  IMAGE_RECITATION: 'guardRail',
  IMAGE_OTHER: 'guardRail',
}

/** Known fields: read, or ignored because they only describe the response. */
const known = {
  chunk: new Set([
    ...['candidates', 'usageMetadata', 'promptFeedback', 'error', 'responseId', 'modelVersion', 'createTime', 'modelStatus'],
    ...['traceId', 'sdkHttpResponse', 'automaticFunctionCallingHistory'],
  ]),
  candidate: new Set([
    ...[
      'index',
      'content',
      'finishReason',
      'finishMessage',
      'safetyRatings',
      'citationMetadata',
      'groundingMetadata',
      'urlContextMetadata',
    ],
    ...['logprobsResult', 'avgLogprobs', 'tokenCount', 'groundingAttributions', 'continuationToken'],
  ]),
  content: new Set(['role', 'parts']),
}

/** Matches failures of a single generation. A retry usually succeeds. */
const isSlip = /^MALFORMED_/

/**
 * Decodes a `streamGenerateContent` stream of the Gemini API or Vertex AI.
 *
 * **Contract**
 * - A `finishReason` or a blocked prompt makes the message complete. Decoding continues until the end of the body, because some models
 *   send the reason with every chunk.
 * - Creates a separate block for a part with a signature, even without text. Merges adjacent unsigned parts of one kind. Assigns a unique
 *   id to calls without an id.
 * - Throws `ProviderError` `api` for a `finishReason` that reports a failure. The error is retryable if a retry usually succeeds.
 *
 * Source: docs/providers/google.md
 */
export class GeminiDecoder implements StreamDecoder {
  readonly builder: AssistantBuilder
  readonly terminal = 'finishReason'
  readonly isDone = false
  /** Content may follow a `finishReason`, so decoding waits for it. */
  readonly owed = 'content'
  progress = 0
  readonly #context: DecoderContext
  readonly #frames: SseDecoder
  readonly #counts = new TokenCounts()
  #blocks = 0
  /** Kind of the current block. Unsigned text of the same kind extends the block. */
  #open: 'text' | 'thinking' | undefined
  /** Arguments of the last block, if streamed individually. */
  #streamedCall: PartialArguments | undefined
  #finishReason: string | undefined
  #id: string | null | undefined
  #finishMessage = ''
  /** Frames up to the first finish reason, which some gateways repeat. */
  readonly #frameTexts: string[] = []
  /** The same frames as a set, created only when needed. */
  #known: Set<string> | undefined
  #finalFrame: string | undefined
  #isBlocked = false
  #blockReason = ''
  readonly #parts: ServiceParts
  readonly #grounding: Grounding
  readonly #unknown: UnknownFields
  #hasOthers = false
  /** Token that continues a response that exceeds the limit of one request. */
  #continuation: unknown

  constructor({ answerTool }: Pick<EncodedCall, 'answerTool'>, context: DecoderContext) {
    this.#context = context
    const { model, continues } = context.request
    this.builder = new AssistantBuilder(model, context.emit, answerTool, continues)
    this.builder.counts(this.#counts.usage)
    this.#unknown = new UnknownFields(this.builder)
    this.#parts = new ServiceParts(this.builder, (payload) => this.#own(payload))
    this.#grounding = new Grounding(this.builder, this.#counts.usage, (payload) => this.#own(payload))
    this.#frames = createSseDecoder((data, name) => this.#frame(data, name), context.framing)
  }

  get isComplete(): boolean {
    return this.#finishReason !== undefined || this.#isBlocked
  }

  push(bytes: Uint8Array): void {
    this.#frames.feed(bytes)
  }

  end(): void {
    const wasBlocked = this.#isBlocked
    this.#frames.end()
    // A blocked prompt is final, but a retry after a broken connection is free. Therefore, a block counts only in a complete frame.
    this.#isBlocked = wasBlocked
  }

  finish(): AssistantMessage {
    this.#closeCut()
    this.#parts.settle()
    this.#forgetContinuation()
    this.#grounding.tell(this.#parts.hasCalls)
    const finish = this.#finishReason
    if (finish === 'CONTINUATION' && typeof this.#continuation === 'string') return this.#paused(this.#continuation)
    if (finish === undefined) return this.#guarded(`blocked the prompt (blockReason ${this.#blockReason})`)
    const reason = ownOf(stopReasons, finish)
    if (reason === 'guardRail') return this.#guarded(`stopped the answer (finishReason ${finish})`)
    if (reason !== undefined) return this.builder.finish(reason, this.#counts.usage)
    const detail = this.#finishMessage === '' ? '' : `: ${this.#finishMessage}`
    const message = `${this.#context.service} aborted the response (finishReason ${finish})${detail}`
    throw new ProviderError('api', message, { isRetryable: isSlip.test(finish) })
  }

  /** Marks the continuation as used. If the request fails, a retry can use it again. */
  #forgetContinuation(): void {
    const { message } = this.builder
    const { continuationToken, ...kept } = message.providerState?.payload ?? {}
    if (continuationToken === undefined) return
    if (Object.keys(kept).length > 0) message.providerState = this.#own(kept)
    else delete message.providerState
  }

  /** Returns a paused message. The same request with the token continues it. The sources received so far were already emitted. */
  #paused(continuationToken: string): AssistantMessage {
    const message = this.builder.finish('paused', this.#counts.usage)
    message.providerState = this.#own({ ...message.providerState?.payload, continuationToken })
    return message
  }

  /** Returns a message stopped by a filter. Reports the reason as a warning, because the content does not contain it. */
  #guarded(what: string): AssistantMessage {
    const message = this.builder.finish('guardRail', this.#counts.usage)
    message.errorMessage = `${this.#context.service} ${what}${this.#finishMessage === '' ? '' : `: ${this.#finishMessage}`}`
    return message
  }

  #block({ blockReason, blockReasonMessage }: NonNullable<GeminiChunk['promptFeedback']>): void {
    this.#isBlocked = true
    this.#blockReason = wordIn(blockReason, 'a reason to block') ?? ''
    if (typeof blockReasonMessage === 'string') this.#finishMessage = blockReasonMessage
  }

  #frame(data: string, name: string | undefined): void {
    // Gateways may send another protocol's end marker, or repeat frames.
    const isAgain = data === this.#finalFrame || this.#cameBefore(data)
    if (isMarker(data) !== undefined || isAgain) return
    if (this.#finishReason === undefined) this.#frameTexts.push(data)
    const parsed = parsedEvent<GeminiChunk | (GeminiChunk | null)[] | null>(data, this.#context.service)
    if (name === 'error') throw new StreamRefusal(Array.isArray(parsed) ? parsed[0] : parsed)
    // Gateways may send lists of chunks.
    if (Array.isArray(parsed)) for (const chunk of objectsIn(parsed, 'chunks')) this.#read(chunk)
    else this.#read(objectIn(parsed, 'a chunk') ?? {})
    if (this.#finishReason !== undefined) this.#finalFrame = data
  }

  #cameBefore(data: string): boolean {
    if (this.#finishReason === undefined) return false
    this.#known ??= new Set(this.#frameTexts)
    return this.#known.has(data)
  }

  #read(chunk: GeminiChunk): void {
    if (chunk.error) throw new StreamRefusal(chunk)
    if (this.builder.message.responseId === undefined) this.builder.answeredBy(chunk.responseId, chunk.modelVersion)
    this.builder.start()
    if (chunk.usageMetadata) this.#report(chunk.usageMetadata)
    if (chunk.promptFeedback?.blockReason) this.#block(chunk.promptFeedback)
    this.#unknown.look(chunk, known.chunk)
    const candidates = objectsIn(chunk.candidates, 'candidates')
    const candidate = candidates.find(isOurs)
    if (candidates.length > (candidate === undefined ? 0 : 1)) this.#warnOfOthers()
    if (candidate === undefined) return
    this.#unknown.look(candidate, known.candidate)
    const content = objectIn(candidate.content, 'content')
    if (content !== undefined) this.#unknown.look(content, known.content)
    const parts = objectsIn(content?.parts, 'parts')
    if (this.#finishReason === undefined) this.#id = chunk.responseId
    else if (parts.length > 0 && chunk.responseId !== this.#id) throw secondMessage(this.#context.service)
    for (const part of parts) this.#part(part)
    this.#grounding.add(candidate)
    const { finishMessage, continuationToken } = candidate
    if (typeof continuationToken === 'string' && continuationToken !== '') this.#continuation = continuationToken
    const finishReason = wordIn(candidate.finishReason, 'a reason to stop')
    if (finishReason === undefined || finishReason === '') return
    if (this.#finishReason === undefined) this.progress++
    this.#finishReason = finishReason
    if (typeof finishMessage === 'string') this.#finishMessage = finishMessage
  }

  #report(report: GeminiUsage): void {
    this.#counts.add(report)
    const tier = report.serviceTier ?? report.trafficType
    if (typeof tier === 'string') this.builder.message.serviceTier = tier.slice(0, 100)
  }

  #warnOfOthers(): void {
    if (!this.#hasOthers) this.builder.warn('The provider sent several responses. All but the first were dropped.')
    this.#hasOthers = true
  }

  #part(part: GeminiPart): void {
    this.progress++
    this.#grounding.part(part.thought !== true && typeof part.text === 'string' ? part.text.length : undefined)
    if (isPlainText(part)) {
      this.#content(part)
      return
    }
    const { count, hasMore } = contentsIn(part)
    if (hasMore) this.#unknown.look(part, knownOfParts)
    if (count > 1) for (const each of splitPart(part)) this.#content(each)
    else this.#content(part)
  }

  #content(part: GeminiPart): void {
    const signature = textIn(part.thoughtSignature, 'a signature')
    // An empty call ends a call whose arguments were streamed individually.
    const call = objectIn(part.functionCall, 'a call') ?? (this.#streamedCall && part.functionCall)
    if (call) this.#call(call, signature)
    else if (part.text !== undefined) this.#text(part.thought === true ? 'thinking' : 'text', textIn(part.text, 'text'), signature)
    else if (this.#parts.add(part)) this.#open = undefined
  }

  #text(kind: 'text' | 'thinking', delta: string, signature: string): void {
    if (delta !== '') this.#parts.settle()
    if (signature === '') {
      if (delta === '') return
      if (this.#open !== kind) {
        this.#blocks++
        if (kind === 'text') this.#grounding.text(this.#blocks)
      }
      this.#open = kind
      this.builder[kind](this.#blocks, delta)
      return
    }
    const key = ++this.#blocks
    this.#open = undefined
    if (kind === 'text' && delta !== '') this.#grounding.text(key)
    this.builder[kind](key, delta)
    this.builder.setProviderState(key, this.#state(signature), kind)
  }

  #call(call: GeminiCall, signature: string): void {
    this.#open = undefined
    this.#parts.settle()
    const name = nameIn(call.name, 'the name of a tool') ?? ''
    if (name !== '') this.#begin(call, name)
    else if (this.#streamedCall === undefined) throw new OddValue('the name of a tool', undefined)
    if (signature !== '') this.builder.setProviderState(this.#blocks, this.#state(signature))
    const streamed = this.#streamedCall
    streamed?.add(call.partialArgs)
    if (streamed === undefined || call.willContinue === true) return
    this.#streamedCall = undefined
    this.builder.toolArguments(this.#blocks, streamed.toJson())
    if (streamed.isIncomplete) this.builder.cutCall(this.#blocks)
  }

  #begin(call: GeminiCall, name: string): void {
    this.#closeCut()
    const key = ++this.#blocks
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : newCallId()
    this.builder.toolCall(key, id, name)
    if (call.willContinue === true || call.partialArgs) this.#streamedCall = new PartialArguments()
    else this.builder.toolArguments(key, typeof call.args === 'string' ? JSON.stringify(call.args) : textOfArguments(call.args ?? {}))
  }

  /** Makes the arguments of an incomplete call invalid JSON, so that the call does not run. */
  #closeCut(): void {
    const cut = this.#streamedCall
    if (cut !== undefined) this.builder.toolArguments(this.#blocks, cut.toJson().slice(0, -1))
    this.#streamedCall = undefined
  }

  #state(thoughtSignature: string): ProviderState {
    return this.#own({ thoughtSignature })
  }

  #own(payload: JsonObject): ProviderState {
    const { api, id } = this.#context.request.model
    return { api, model: id, payload }
  }
}

/** Returns whether a candidate is the first candidate. The decoder ignores all others. */
function isOurs(candidate: GeminiCandidate): boolean {
  return (indexIn(candidate.index) ?? 0) === 0
}
