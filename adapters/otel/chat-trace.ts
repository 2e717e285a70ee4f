import { type Attributes, type Context, SpanKind } from '@opentelemetry/api'
import { combineUsage, emptyUsage } from '../../src/context.ts'
import type { ProviderRetryEvent } from '../../src/contract/run/event.ts'
import type { AssistantMessage, Usage } from '../../src/index.ts'
import type { StreamRequest } from '../../src/providers.ts'
import { capturedInput, capturedInstructions, capturedOutput } from './content.ts'
import { cancelled, chatAttributes, finishReason, type LoopFacts, type ModelFacts, nameOf, usageAttributes } from './conventions.ts'
import type { InstrumentName, Operation, Tracing } from './tracing.ts'

/** One model call in a loop, with its retries: the span `chat {model}` and the `gen_ai.client.*` metrics. */
export class ChatTrace {
  readonly #tracing: Tracing
  readonly #operation: Operation
  readonly #attributes: ReturnType<typeof chatAttributes>
  /** Usage by attempts that failed after output. */
  #usage: Usage = emptyUsage()
  #hasBegun = false

  constructor(tracing: Tracing, facts: LoopFacts, model: ModelFacts, place: { parent: Context; at?: number | undefined }) {
    this.#tracing = tracing
    this.#attributes = chatAttributes(model)
    this.#operation = tracing.begin({
      ...place,
      name: `chat ${nameOf(model.id)}`,
      kind: SpanKind.CLIENT,
      attributes: { ...this.#attributes.common, 'gen_ai.conversation.id': nameOf(facts.sessionId), 'gen_ai.request.stream': true },
    })
  }

  get context(): Context {
    return this.#operation.context
  }

  request({ maxTokens, temperature, responseFormat, model, systemPrompt, messages }: StreamRequest): void {
    if (!this.#operation.isRecording) return
    const limit = maxTokens ?? model.maxTokens
    const isJson = responseFormat !== undefined && responseFormat.type !== 'text'
    const attributes: Attributes = {
      ...(limit > 0 && { 'gen_ai.request.max_tokens': limit }),
      ...(temperature !== undefined && { 'gen_ai.request.temperature': temperature }),
      ...(isJson && { 'gen_ai.output.type': 'json' }),
    }
    this.#operation.set(attributes)
    if (!this.#tracing.capturesContent) return
    if (systemPrompt !== '') this.#operation.set({ 'gen_ai.system_instructions': capturedInstructions(systemPrompt) })
    this.#operation.set({ 'gen_ai.input.messages': capturedInput(messages) })
  }

  /** Records the first output. */
  begun(at?: number): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    if (this.#operation.isRecording) this.#operation.set({ 'gen_ai.response.time_to_first_chunk': this.#operation.elapsed(at) })
  }

  /** Adds the usage by an attempt that failed after output. */
  failedAttempt(usage: Usage): void {
    this.#usage = combineUsage(this.#usage, usage)
  }

  retried({ attempt, maxRetries, delayMs, error, afterOutput }: Omit<ProviderRetryEvent, 'type'>, at?: number): void {
    const figures = { 'phi.retry.attempt': attempt, 'phi.retry.max_retries': maxRetries, 'phi.retry.delay_ms': delayMs }
    this.#operation.note('retry', { ...figures, 'phi.retry.after_output': afterOutput, 'error.type': nameOf(error.code) }, at)
  }

  /** Ends the span with the response, or with `code` of its failure. */
  answered(message: AssistantMessage, code: string | undefined, at?: number): void {
    const { stopReason, responseId, responseModel, errorMessage } = message
    const usage = combineUsage(this.#usage, message.usage)
    const failure = stopReason === 'aborted' ? cancelled : stopReason === 'error' ? nameOf(code ?? '_OTHER') : undefined
    const attributes = (): Attributes => ({
      ...(responseModel !== undefined && { 'gen_ai.response.model': nameOf(responseModel) }),
      ...usageAttributes(usage),
      ...(responseId !== undefined && { 'gen_ai.response.id': nameOf(responseId) }),
      'gen_ai.response.finish_reasons': [finishReason(stopReason)],
      ...(this.#tracing.capturesContent && { 'gen_ai.output.messages': capturedOutput(message) }),
    })
    const error = failure === undefined ? {} : { error: { type: failure, message: errorMessage } }
    const took = this.#operation.end({ attributes, ...error, at })
    if (took !== undefined) this.#measure(took, usage, responseModel, failure)
  }

  /** Ends the span without a response. */
  cut(type: string, at?: number): void {
    const took = this.#operation.end({ error: { type }, at })
    if (took !== undefined) this.#measure(took, this.#usage, undefined, type)
  }

  #measure(took: number, { input, output, cacheRead, cacheWrite }: Usage, responseModel?: string, failure?: string): void {
    const { common, ...tokens } = this.#attributes
    const modelAttribute = responseModel === undefined ? undefined : { 'gen_ai.response.model': nameOf(responseModel) }
    const record = (name: InstrumentName, value: number, attributes: Attributes): void =>
      this.#tracing.record(name, value, modelAttribute === undefined ? attributes : { ...attributes, ...modelAttribute })
    const prompt = input + cacheRead + cacheWrite
    if (prompt > 0) record('gen_ai.client.token.usage', prompt, tokens.input)
    if (output > 0) record('gen_ai.client.token.usage', output, tokens.output)
    record('gen_ai.client.operation.duration', took, failure === undefined ? common : { ...common, 'error.type': failure })
  }
}
