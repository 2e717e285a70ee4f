import { raceAbort } from '../../base/abort.ts'
import { PartialJson } from '../../base/json/partial-json.ts'
import { ProviderError } from '../../contract/errors.ts'
import { type JsonSchema, jsonObjectIn } from '../../contract/json.ts'
import { newId } from '../../contract/message/identity.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { settingNames } from '../../contract/model/request-settings.ts'
import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { EncodedRequest, StreamEvent, StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import { perObject } from '../kit/encode/json-pieces.ts'
import { normalise } from '../kit/history/normalise.ts'
import type { NormaliseTarget } from '../kit/history/target.ts'
import { type MediaTarget, withReadyMedia } from '../kit/optional/media/late-media.ts'
import { callsName, constrainedForm, sayName } from './constrained.ts'
import {
  type AnswerChunk,
  type BrowserAi,
  browserFailure,
  type LanguageModelSession,
  type ModelToolCall,
  type PromptMessage,
  type SessionCore,
  type SessionOptions,
  usedBy,
  windowOf,
} from './language-model.ts'
import { kindsIn, promptsOf, type ToolUse } from './prompts.ts'

/** The provider's dependencies. */
export interface BrowserModelParts {
  /** Returns the Prompt API, or `undefined` if the browser lacks it. */
  ai: () => BrowserAi | undefined
  toolUse: 'native' | 'constrained'
  languages: readonly string[]
  onDownload: ((progress: { loaded: number }) => void) | undefined
}

/** One call, built from a request. */
interface Call {
  core: SessionCore
  system: string
  /** History without the last message, which is the prompt. */
  before: PromptMessage[]
  last: PromptMessage[]
  constraint: JsonSchema | undefined
  tools: ToolUse
  warnings: string[]
}

/** Images and audio are sent as bytes. The browser fetches nothing. */
const media = { media: ['image/*', 'audio/*'], mediaByUrl: [], mediaById: [] }
const mediaTarget: MediaTarget = { api: 'chromeAi', codec: { media: () => media } }

const targets = perObject(
  ({ api, provider, id }: ModelConfig): NormaliseTarget => ({
    ...{ api, provider, model: id, media },
    toolCallId: (callId) => callId,
    keepsThinking: () => false,
  }),
)

/** Settings that are handled elsewhere. */
const known: ReadonlySet<string> = new Set(['toolChoice', 'strict', 'requireMedia', 'parallelToolCalls', 'headers', 'user'])

/** Provider for a browser's model. Each call uses a new session, which is destroyed afterwards. */
export class BrowserModelProvider implements StreamProvider {
  readonly api = 'chromeAi'
  readonly #parts: BrowserModelParts

  constructor(parts: BrowserModelParts) {
    this.#parts = parts
  }

  /** Returns the session options and the prompt as JSON in `body`. Nothing is sent. */
  async encode(request: StreamRequest): Promise<EncodedRequest> {
    const { core, system, before, last, constraint, warnings } = this.#call(await withReadyMedia(request, mediaTarget), 'shown')
    const body = JSON.stringify({ ...core, initialPrompts: initial(system, before), prompt: last, responseConstraint: constraint })
    return { url: 'browser:', headers: {}, redactedHeaders: {}, body, warnings }
  }

  async stream(request: StreamRequest, emit: (event: StreamEvent) => void, signal: AbortSignal): Promise<AssistantMessage> {
    const builder = new AssistantBuilder(request.model, emit)
    let session: LanguageModelSession | undefined
    try {
      const call = this.#call(await raceAbort(withReadyMedia(request, mediaTarget), signal))
      builder.warnings = call.warnings
      signal.throwIfAborted()
      session = await this.#session(call, signal, builder)
      const usedBefore = await tokensBefore(session, call, signal)
      builder.start()
      signal.throwIfAborted()
      await answer(session, call, builder, signal)
      return builder.finish('stop', usageOf(usedBefore, session))
    } catch (error) {
      const failure = browserFailure(error, signal, builder.isStarted ? builder.message : undefined)
      if (builder.isStarted) builder.fail(failure.code === 'cancelled' ? 'aborted' : 'error', failure.message)
      throw failure
    } finally {
      session?.destroy()
    }
  }

  #ai(): BrowserAi {
    const ai = this.#parts.ai()
    if (ai !== undefined) return ai
    throw new ProviderError(
      'unsupported',
      'This browser has no built-in model: LanguageModel is undefined. Check availability() first, and use another model.',
    )
  }

  #call(request: StreamRequest, purpose: 'asked' | 'shown' = 'asked'): Call {
    const warnings = leftOut(request)
    const { toolChoice, responseFormat, systemPrompt } = request
    const declared = toolChoice === 'none' ? [] : request.tools
    const tools = this.#toolUse(declared.length > 0, purpose)
    const answerSchema = formOf(responseFormat)
    const form = tools.kind === 'constrained' ? constrainedForm(declared, toolChoice, answerSchema) : undefined
    if (tools.kind === 'native' && toolChoice !== undefined && toolChoice !== 'auto')
      warnings.push("toolChoice: the browser's model decides which tools it calls")
    const prompts = promptsOf(normalise(request.messages, targets(request.model)), tools)
    const system = [systemPrompt, form?.guide ?? ''].filter((part) => part !== '').join('\n\n')
    return {
      core: this.#core(prompts, tools, declared),
      ...{ system, before: prompts.slice(0, -1), last: prompts.slice(-1), tools, warnings },
      constraint: form?.schema ?? answerSchema,
    }
  }

  /** Encoding a request for display does not require browser objects. */
  #toolUse(hasTools: boolean, purpose: 'asked' | 'shown'): ToolUse {
    if (!hasTools) return { kind: 'none' }
    const ai = purpose === 'shown' ? this.#parts.ai() : this.#ai()
    if (this.#parts.toolUse === 'constrained' || ai === undefined) return { kind: 'constrained' }
    const { LanguageModel, LanguageModelToolCall, LanguageModelToolSuccess, LanguageModelToolError } = ai
    if (LanguageModelToolCall === undefined || LanguageModelToolSuccess === undefined || LanguageModelToolError === undefined)
      return { kind: 'constrained' }
    return { kind: 'native', ai: { LanguageModel, LanguageModelToolCall, LanguageModelToolSuccess, LanguageModelToolError } }
  }

  #core(prompts: readonly PromptMessage[], tools: ToolUse, declared: StreamRequest['tools']): SessionCore {
    const { languages } = this.#parts
    const text = { type: 'text' as const, ...(languages.length > 0 && { languages }) }
    const kinds = [...kindsIn(prompts)].filter((kind) => kind !== 'text')
    const isNative = tools.kind === 'native'
    const inputs = new Set([...kinds, ...(isNative ? (['tool-response'] as const) : [])])
    return {
      expectedInputs: [text, ...[...inputs].map((type) => ({ type }))],
      expectedOutputs: isNative ? [text, { type: 'tool-call' }] : [text],
      ...(isNative && { tools: declared.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters })) }),
    }
  }

  async #session({ core, system, before }: Call, signal: AbortSignal, builder: AssistantBuilder): Promise<LanguageModelSession> {
    const { LanguageModel } = this.#ai()
    const availability = await raceAbort(LanguageModel.availability(core), signal)
    if (availability === 'unavailable')
      throw new ProviderError(
        'unsupported',
        'The browser has no model for this request: a language, medium or tool is unsupported, or the device lacks resources.',
      )
    if (availability !== 'available')
      builder.warnings = [...builder.warnings, 'the browser is downloading its model: chromeAi({ onDownload }) reports the progress']
    const { onDownload } = this.#parts
    const options: SessionOptions = {
      ...core,
      ...{ initialPrompts: initial(system, before), signal },
      ...(onDownload !== undefined && {
        monitor: (monitor) =>
          monitor.addEventListener('downloadprogress', ({ loaded, total }) => onDownload({ loaded: loaded / (total || 1) })),
      }),
    }
    const creating = LanguageModel.create(options)
    try {
      return await raceAbort(creating, signal)
    } catch (error) {
      // Destroy a session created after an abort, because it would keep the model in memory.
      creating.then(
        (late) => late.destroy(),
        () => undefined,
      )
      throw error
    }
  }
}

function initial(system: string, before: readonly PromptMessage[]): PromptMessage[] {
  return system === '' ? [...before] : [{ role: 'system', content: system }, ...before]
}

/** Returns the response format as a schema. */
function formOf(format: StreamRequest['responseFormat']): JsonSchema | undefined {
  if (format === undefined || format.type === 'text') return undefined
  return format.type === 'jsonSchema' ? format.schema : { type: 'object' }
}

/** Returns warnings for unsupported settings. Throws if an unsupported setting is mandatory. */
function leftOut(request: StreamRequest): string[] {
  const names: string[] = settingNames.filter((name) => request[name] !== undefined && !known.has(name))
  if (request.thinking !== 'off') names.push('thinking')
  if (names.length > 0 && request.strict === true)
    throw new ProviderError('unsupported', `The browser's model does not support ${names.join(', ')}, and strict is set.`)
  return names.map((name) => `${name}: the browser's model does not support this setting`)
}

/** Returns the prompt's tokens. Rejects if the prompt does not fit, because the browser would silently drop the beginning. */
async function tokensBefore(session: LanguageModelSession, { last, constraint }: Call, signal: AbortSignal): Promise<number> {
  const options = { signal, ...(constraint !== undefined && { responseConstraint: constraint }) }
  const measuring = session.measureContextUsage?.(last, options) ?? session.measureInputUsage?.(last, options)
  const measured = measuring === undefined ? 0 : await raceAbort(measuring, signal)
  const used = usedBy(session) + measured
  if (used > windowOf(session))
    throw new ProviderError('contextOverflow', `The conversation has ${used} tokens, but the browser's model accepts ${windowOf(session)}.`)
  return used
}

function usageOf(input: number, session: LanguageModelSession): Usage {
  const used = usedBy(session)
  const output = Math.max(0, used - input)
  return { ...emptyUsage(), input, output, totalTokens: input + output }
}

/** Reads a complete response. */
async function answer(session: LanguageModelSession, call: Call, builder: AssistantBuilder, signal: AbortSignal): Promise<void> {
  const { last, constraint, tools } = call
  const reading = tools.kind === 'constrained' ? new ConstrainedAnswer(builder) : new PlainAnswer(builder)
  const stream = session.promptStreaming(last, { signal, ...(constraint !== undefined && { responseConstraint: constraint }) })
  const reader = stream.getReader()
  try {
    for (let next = await raceAbort(reader.read(), signal); !next.done; next = await raceAbort(reader.read(), signal)) {
      reading.take(next.value)
    }
    reading.end()
  } finally {
    // Not awaited, because a stream that ignores its signal must not block the run.
    reader.cancel().catch(() => undefined)
  }
}

/** Reads text and native tool calls. */
class PlainAnswer {
  readonly #builder: AssistantBuilder

  constructor(builder: AssistantBuilder) {
    this.#builder = builder
  }

  take(chunk: AnswerChunk): void {
    const { type, value } = typeof chunk === 'string' ? { type: 'text', value: chunk } : chunk
    if (type === 'text' && typeof value === 'string') this.#builder.text('text', value)
    else if (type === 'thought' && typeof value === 'string') this.#builder.thinking('thought', value)
    else if (type === 'tool-call') writeCall(this.#builder, Object(value))
    else this.#builder.warn(`The browser's model returned content of the unknown type ${String(type).slice(0, 40)}.`)
  }

  end(): void {
    // Everything was already emitted.
  }
}

/** Reads a structured response with calls. */
class ConstrainedAnswer {
  readonly #builder: AssistantBuilder
  readonly #json = new PartialJson()
  #receivedText = ''

  constructor(builder: AssistantBuilder) {
    this.#builder = builder
  }

  take(chunk: AnswerChunk): void {
    this.#json.push(typeof chunk === 'string' ? chunk : String(chunk.value))
    const say = jsonObjectIn(this.#json.value)[sayName]
    if (typeof say !== 'string' || say.length <= this.#receivedText.length) return
    this.#builder.text('text', say.slice(this.#receivedText.length))
    this.#receivedText = say
  }

  end(): void {
    this.#json.end()
    const { [sayName]: say, [callsName]: calls } = jsonObjectIn(this.#json.value)
    if (this.#json.isBroken || !this.#json.isComplete || (say === undefined && calls === undefined))
      throw new ProviderError('schemaMismatch', "The browser's model returned a response that does not match the requested format.")
    // Emit a response in any other format as JSON.
    if (say !== null && typeof say === 'object') this.#builder.text('text', JSON.stringify(say))
    for (const call of Array.isArray(calls) ? calls : []) {
      const { name, arguments: args } = jsonObjectIn(call)
      writeCall(this.#builder, { callId: newId(), name: String(name), arguments: args ?? {} })
    }
  }
}

function writeCall(builder: AssistantBuilder, { callId, name, arguments: args }: Partial<ModelToolCall>): void {
  const id = typeof callId === 'string' && callId !== '' ? callId : newId()
  builder.toolCall(id, id, typeof name === 'string' ? name : '')
  builder.toolArguments(id, JSON.stringify(args ?? {}))
}
