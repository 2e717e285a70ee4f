import type { ProviderError } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import { withToolsEnded } from '../../contract/message/block-words.ts'
import type { Content, ServiceToolContent } from '../../contract/message/content.ts'
import { newId } from '../../contract/message/identity.ts'
import { type AssistantMessage, type LlmMessage, type MessageEnvelope, now, toolCallsOf } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { ServiceToolEndEvent } from '../../contract/run/event.ts'
import { jsonFault, kindOf } from '../../contract/shape/json-fault.ts'
import type { StreamEvent } from '../../types/model/provider.ts'
import type { LoopState } from '../loop-state.ts'
import type { WordFilter } from '../plugins/plugin-port.ts'

/** An assistant message as stored in the history. */
export type AssistantEntry = AssistantMessage & MessageEnvelope

/**
 * Converts one attempt's provider events to message events, and closes the message exactly once.
 *
 * **Contract**
 * - Emits `messageStart` with the first output, so that an attempt that fails earlier emits nothing.
 * - Drops provider events that arrive after `finish`, `fail` or `discard`.
 */
export class AssistantStream {
  readonly #loop: LoopState
  readonly #id = newId()
  #entry: AssistantEntry | undefined
  /** Names of provider-executed tools in this message, by call id. `undefined` after a call has ended. */
  #shown: Map<string, string | undefined> | undefined
  #isOpen = true
  #hasBegun = false
  #hasOutput = false
  /** Whether text has arrived. Cached, so that the loop does not search long responses. */
  hasWords = false

  /** Word filter, if plugins replace text. */
  readonly #words: WordFilter | undefined

  constructor(loop: LoopState) {
    this.#loop = loop
    this.#words = loop.plugins?.words(this.#id)
  }

  /**
   * Whether output was emitted, so that users saw part of a failed response. For a continued response, considers only output since the
   * continuation.
   */
  get hasOutput(): boolean {
    return this.#hasOutput
  }

  /** Whether the stream still accepts events. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Continues the response with another request. */
  continue(): void {
    this.#hasOutput = false
  }

  /** Emits a paused response's content again, after the message that contained it failed. */
  restate(paused: AssistantMessage): void {
    if (this.#hasBegun) return
    const message = structuredClone(paused)
    this.accept({ type: 'start', message })
    for (const [contentIndex, block] of message.content.entries()) {
      if (block.type === 'text') {
        this.accept({ type: 'text', contentIndex, delta: block.text })
        for (const citation of block.citations ?? []) this.accept({ type: 'citation', contentIndex, citation })
      } else if (block.type === 'thinking') this.accept({ type: 'thinking', contentIndex, delta: block.thinking })
      else if (block.type !== 'toolCall') this.accept({ type: 'block', contentIndex, block })
    }
    this.continue()
  }

  /** Receives the provider's events. */
  readonly accept = (event: StreamEvent): void => {
    if (!this.#isOpen) return
    if (event.type === 'start') {
      this.#entry = this.#enveloped(event.message)
      for (const warning of event.warnings ?? []) this.#loop.log.warnOnce('requestAdjusted', warning)
      return
    }
    if (event.type === 'fallback') {
      this.#loop.events.emit({ ...event, type: 'modelFallback', turnIndex: this.#loop.turnIndex })
      return
    }
    if (event.type === 'rateLimits') {
      this.#loop.showRateLimits(event)
      return
    }
    if (event.type === 'warning') {
      this.#loop.log.warnOnce('answerAdjusted', event.warning)
      return
    }
    const shown = this.#words === undefined ? event : this.#words.take(event)
    if (shown !== undefined) this.#show(shown)
  }

  #show(event: StreamDelta): void {
    this.#hasOutput = true
    if (!this.hasWords) this.hasWords = event.type === 'text' && event.delta.trim() !== ''
    if (!this.#hasBegun) this.#begin(this.#entry ?? this.#empty())
    this.#loop.events.update(this.#id, event)
    if (event.type === 'block' && event.block.type === 'serviceTool') this.#follow(event.block)
  }

  /** Closes the stream and returns the finished message. The caller emits its `messageEnd`. */
  finish(message: AssistantMessage): AssistantEntry {
    const entry = this.#enveloped(message)
    uniqueCallIds(entry)
    keepSound(entry)
    return this.#close(entry)
  }

  /** Closes the stream after a failure or stop, and returns the partial message with the reason. */
  fail(stopReason: 'error' | 'aborted', errorMessage: string, error?: ProviderError): AssistantEntry {
    const partial = this.#entry ?? (error?.partial && this.#enveloped(error.partial))
    // Copy the content, so that late writes to the live message cannot change the history.
    const entry = partial ? { ...partial, content: withToolsEnded(partial.content.map((block) => ({ ...block }))) } : this.#empty()
    keepSound(entry)
    return this.#close({ ...entry, stopReason, errorMessage })
  }

  /** Discards an attempt without output. Keeps the message of a continued response. */
  discard(): void {
    if (!this.#hasBegun) this.#isOpen = false
  }

  #begin(message: LlmMessage): void {
    this.#hasBegun = true
    this.#loop.events.emit({ type: 'messageStart', messageId: this.#id, message: this.#words === undefined ? message : wordless(message) })
  }

  #close(entry: AssistantEntry): AssistantEntry {
    this.#words?.close(entry, (event) => this.#show(event))
    this.#isOpen = false
    if (!this.#hasBegun) this.#begin(entry)
    for (const [toolCallId, toolName] of this.#shown ?? []) {
      if (toolName !== undefined) this.#end({ toolCallId, toolName, outcome: 'open' })
    }
    return entry
  }

  /** Emits the start of a provider-executed tool when it first appears, and its end. */
  #follow({ id: toolCallId, name: toolName, status, error }: ServiceToolContent): void {
    this.#shown ??= new Map()
    const shown = this.#shown
    if (!shown.has(toolCallId)) {
      shown.set(toolCallId, toolName)
      this.#loop.events.emit({ type: 'serviceToolStart', messageId: this.#id, toolCallId, toolName })
    }
    if (status === 'running' || shown.get(toolCallId) === undefined) return
    shown.set(toolCallId, undefined)
    this.#end({ toolCallId, toolName, outcome: status, ...(error !== undefined && { error }) })
  }

  #end(ending: Pick<ServiceToolEndEvent, 'toolCallId' | 'toolName' | 'outcome' | 'error'>): void {
    this.#loop.events.emit({ type: 'serviceToolEnd', messageId: this.#id, ...ending })
  }

  /** Returns the live message itself, or a copy if it is frozen or already in a history. */
  #enveloped(message: AssistantMessage): AssistantEntry {
    const { turns, turnIndex, events } = this.#loop
    const { outputForm } = turns
    const turnId = { loopId: events.loopId, turnIndex }
    const isFree = message === this.#entry || (!('id' in message) && Object.isExtensible(message))
    return Object.assign(isFree ? message : { ...message }, { id: this.#id, turnId, ...(outputForm !== undefined && { outputForm }) })
  }

  #empty(): AssistantEntry {
    const { id: model, provider } = this.#loop.turn.model.config
    return this.#enveloped({
      role: 'assistant',
      content: [],
      stopReason: 'stop',
      model,
      provider,
      usage: emptyUsage(),
      timestamp: now(),
    })
  }
}

/** Returns the message without the model's text, because plugins replace it. */
function wordless(message: LlmMessage): LlmMessage {
  if (message.role !== 'assistant') return message
  const { refusal: _refusal, logprobs: _logprobs, ...rest } = message
  return { ...rest, content: [] }
}

/**
 * Makes model output storable. Marks arguments that are not a JSON object of at most 200 levels as invalid, and drops such provider state.
 */
function keepSound(message: AssistantMessage): void {
  if (message.content.every((block) => faultOf(block) === undefined)) return
  message.content = message.content.map(soundBlock)
}

function soundBlock(block: Content): Content {
  const fault = faultOf(block)
  if (fault === undefined) return block
  const { providerState: _broken, ...sound } = block
  return sound.type === 'toolCall' ? { ...sound, arguments: {}, invalidArguments: fault } : sound
}

function faultOf(block: Content): string | undefined {
  const stateFault = block.providerState === undefined ? undefined : jsonFault(block.providerState, 'providerState')
  if (block.type !== 'toolCall' || stateFault !== undefined) return stateFault
  const { arguments: args } = block
  if (!isObject(args)) return `arguments are ${kindOf(args)}`
  return jsonFault(args, 'arguments')
}

/** Makes call ids unique, because some providers repeat an id within one message. */
function uniqueCallIds(message: AssistantMessage): void {
  const calls = toolCallsOf(message.content)
  if (calls.length < 2) return
  const seen = new Set<string>()
  for (const call of calls) {
    const base = call.id
    for (let n = 2; seen.has(call.id); n += 1) call.id = `${base}-${n}`
    seen.add(call.id)
  }
}
