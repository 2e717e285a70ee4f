import { ProviderError } from '../../../contract/errors.ts'
import { interruptedTool, isRunningTool, withToolsEnded } from '../../../contract/message/block-words.ts'
import type { Citation, Content, ProviderState, ServiceToolContent } from '../../../contract/message/content.ts'
import { isId, newId } from '../../../contract/message/identity.ts'
import { type AssistantMessage, hasCallsToAnswer, type StopReason } from '../../../contract/message/message.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import { combineUsage, contextTokensOf, type Usage } from '../../../contract/model/usage.ts'
import type { StreamEvent } from '../../../types/model/provider.ts'
import { endCalls, maxArguments, release, tooLongArguments } from './parse-call.ts'
import {
  type BegunKind,
  type BlockKey,
  emptyAnswer,
  emptySlots,
  type IgnoredSlot,
  ignored,
  renameWaiting,
  type Slot,
  serviceKey,
  settled,
  type ThinkingSlot,
  type ToolCallSlot,
  type WaitingBlocks,
  type WholeBlock,
  waitingBefore,
} from './slots.ts'
import { nameIn, textIn } from './wire-value.ts'

/** Maximum blocks in one response. Block operations search them. */
const maxBlocks = 10_000

/**
 * Builds one assistant message from stream fragments, for every protocol.
 *
 * **Contract**
 * - `message` is the object that the `start` event contains and `finish()` returns. The strings in `message` grow by appending.
 * - The first non-empty fragment creates a block, so a `contentIndex` never changes. Removes empty text blocks, unless they have state or
 *   hold the position of a block that began earlier (`begins`).
 * - Buffers the fragments of a call until its id and name are known. Every delta has the final id and name.
 * - Ids are unique within the message. Replaces missing and repeated ids with generated ids.
 * - Ignores empty fragments. A fragment that is not a string fails the call.
 * - More than 16 Mi characters of arguments fail the call with `ProviderError`.
 * - If one call never gets a name, no call runs, because the arguments of the unnamed call may belong to another call.
 * - Unknown content becomes an opaque block (`unknown`). `warn` reports content that could not be preserved.
 * - The codec chooses the block keys. All block kinds share one key space.
 * - The end of the message closes every block. A running provider-executed tool fails, unless the provider continues it (see `keepsTools`).
 * - Converts a call to `answerTool` (see `answerByTool`) to a text block with the call's arguments, which are the response.
 */
export class AssistantBuilder {
  readonly message: AssistantMessage
  /** The encoder's warnings, reported with `start`. */
  warnings: readonly string[] = []
  /**
   * Whether the provider continues its own tools after it receives tool results. A response that stops with `toolUse` then leaves them
   * open.
   */
  keepsTools = false
  readonly #emit: (event: StreamEvent) => void
  readonly #answerTool: string | undefined
  readonly #model: ModelConfig
  readonly #slots = new Map<BlockKey, Slot | IgnoredSlot>()
  readonly #waiting: WaitingBlocks = new Map()
  /** Empty blocks that reserve the position of a block that has begun. */
  readonly #placed = new Set<Content>()
  readonly #ids = new Set<string>()
  #lastKey: BlockKey | undefined
  #last: Slot | IgnoredSlot | undefined
  /** Text blocks that contain the refusal. */
  readonly #refusals = new Set<object>()
  /** The call whose arguments contain the response text. */
  #answerKey: BlockKey | undefined
  readonly #usageBefore: Usage | undefined
  #usage: Usage | undefined
  #started = false

  /** `continues` is the response that the provider paused. New fragments extend it. */
  constructor(model: ModelConfig, emit: (event: StreamEvent) => void, answerTool?: string, continues?: AssistantMessage) {
    this.#emit = emit
    this.#answerTool = answerTool
    this.#model = model
    this.#usageBefore = continues?.usage
    this.message = continues ?? emptyAnswer(model)
    if (continues !== undefined) this.#goOn(continues)
  }

  /** Continues a paused response. An open provider-executed tool ends in the block in which it began. */
  #goOn(message: AssistantMessage): void {
    message.stopReason = 'stop'
    message.content.forEach((block, index) => {
      if (block.type === 'serviceTool') this.#slots.set(serviceKey(block.id), { kind: 'whole', index, block })
    })
  }

  /** Records the usage reported so far, so that a message that fails later still has a cost. */
  counts(usage: Usage): void {
    if (this.#usageBefore === undefined) this.message.usage = usage
    else this.#usage = usage
  }

  /** Records the response id and the responding model. The first non-empty value of each wins. */
  answeredBy(responseId: unknown, responseModel: unknown): void {
    const { message } = this
    if (message.responseId === undefined && isId(responseId)) message.responseId = responseId
    if (message.responseModel === undefined && isId(responseModel)) message.responseModel = responseModel
  }

  /** Emits `start` once. Every emitting operation calls it first. */
  start(): void {
    if (this.#started) return
    this.#started = true
    const { message, warnings } = this
    this.#emit(warnings.length === 0 ? { type: 'start', message } : { type: 'start', message, warnings })
  }

  /** Returns whether `start` was emitted. */
  get isStarted(): boolean {
    return this.#started
  }

  /** Begins a block. Later blocks follow it, even if their content arrives first. */
  begins(key: BlockKey, kind: BegunKind): void {
    if (!this.#slots.has(key)) this.#waiting.set(key, kind)
  }

  /** Ends a block. Creates no block if there was no content. */
  ends(key: BlockKey): void {
    this.#waiting.delete(key)
  }

  /** Renames a block that began under the key `from` to `to`, the key of its content. */
  beganAs(from: BlockKey, to: BlockKey): void {
    const slot = this.#slots.get(from)
    renameWaiting(this.#waiting, from, to)
    if (slot === undefined) return
    this.#slots.delete(from)
    this.#slots.set(to, slot)
    this.#lastKey = undefined
  }

  /** Appends to a text block. */
  text(key: BlockKey, fragment: string): void {
    const delta = textIn(fragment, 'text')
    if (delta === '') return
    const slot = this.#find(key) ?? this.#add(key, emptySlots.text())
    if (slot.kind !== 'text') return
    slot.block.text += delta
    this.#emit({ type: 'text', contentIndex: slot.index, delta })
  }

  /** Appends to the message's refusal, which streams as text but is not a block of the finished message. */
  refusal(key: BlockKey, fragment: string): void {
    const delta = textIn(fragment, 'a refusal')
    if (delta === '') return
    const slot = this.#find(key) ?? this.#add(key, emptySlots.text())
    if (slot.kind !== 'text') return
    slot.block.text += delta
    this.#refusals.add(slot.block)
    this.message.refusal = (this.message.refusal ?? '') + delta
    this.#emit({ type: 'text', contentIndex: slot.index, delta, refusal: true })
  }

  /** Appends to a thinking block. */
  thinking(key: BlockKey, fragment: string): void {
    const delta = textIn(fragment, 'reasoning')
    if (delta === '') return
    const slot = this.#thinkingSlot(key)
    if (slot === undefined) return
    slot.block.thinking += delta
    this.#emit({ type: 'thinking', contentIndex: slot.index, delta })
  }

  /** Adds citations to a text block. Citations may arrive before the text. */
  citation(key: BlockKey, citation: Citation): void {
    const slot = this.#find(key) ?? this.#add(key, emptySlots.text())
    if (slot.kind !== 'text') return
    slot.block.citations ??= []
    slot.block.citations.push(citation)
    this.#emit({ type: 'citation', contentIndex: slot.index, citation })
  }

  /** Adds or replaces a block that does not arrive in fragments, such as a refined image or a finished provider-executed tool. */
  whole(key: BlockKey, block: WholeBlock): void {
    const slot = this.#find(key) ?? this.#add(key, { kind: 'whole', index: 0, block })
    if (slot.kind !== 'whole') return
    slot.block = block
    this.message.content[slot.index] = block
    this.#emit({ type: 'block', contentIndex: slot.index, block })
  }

  /** Returns the latest version of the whole block under `key`. */
  shown(key: BlockKey): WholeBlock | undefined {
    const slot = this.#find(key)
    return slot?.kind === 'whole' ? slot.block : undefined
  }

  /** Adds or updates a provider-executed tool by id, including one from an earlier request of this response. */
  serviceTool(block: ServiceToolContent): void {
    this.whole(serviceKey(block.id), block)
  }

  /** Returns the latest version of the provider-executed tool with this id. */
  serviceToolOf(id: string): ServiceToolContent | undefined {
    const shown = this.shown(serviceKey(id))
    return shown?.type === 'serviceTool' ? shown : undefined
  }

  /** Preserves unknown content. `kind` is the provider's name for it. Warns once per kind. `fate` says what happens to the content. */
  unknown(key: BlockKey, kind: string, providerState: ProviderState, fate = 'sent back to that provider'): void {
    this.whole(key, { type: 'opaque', kind, providerState })
    this.warn(`The provider sent content of the unknown type "${kind.slice(0, 60)}". The content is kept and ${fate}.`)
  }

  /** Warns that part of the response could not be preserved. */
  warn(warning: string): void {
    this.start()
    this.#emit({ type: 'warning', warning })
  }

  /** Starts a call, or adds its missing id or name. Existing values stay unchanged. */
  toolCall(key: BlockKey, callId?: string, toolName?: string): void {
    let slot = this.#find(key)
    const id = nameIn(callId, 'the id of a call')
    const name = nameIn(toolName, 'the name of a tool')
    if (name !== undefined && name === this.#answerTool) {
      this.#takeAnswer(key, slot?.kind === 'toolCall' ? slot : undefined)
      return
    }
    if (key === this.#answerKey) return
    slot ??= this.#add(key, emptySlots.toolCall())
    if (slot.kind !== 'toolCall') return
    if (slot.block.id === '' && id !== undefined && id !== '') {
      slot.block.id = this.#ids.has(id) ? newId() : id
      this.#ids.add(id)
    }
    if (slot.block.name === '' && name !== undefined) slot.block.name = name
    if (slot.held !== '') release(slot, this.#emit)
  }

  /** Appends to the arguments of a call, and starts the call if needed. */
  toolArguments(key: BlockKey, fragment: string): void {
    const delta = textIn(fragment, 'arguments')
    if (delta === '') return
    if (key === this.#answerKey) {
      this.text(key, delta)
      return
    }
    let slot = this.#find(key)
    if (slot === undefined) {
      this.toolCall(key)
      slot = this.#find(key)
    }
    if (slot?.kind !== 'toolCall') return
    slot.raw += delta
    if (slot.raw.length > maxArguments) throw tooLongArguments()
    const { id, name } = slot.block
    if (id !== '' && name !== '' && slot.held === '') {
      this.#emit({ type: 'toolCallDelta', contentIndex: slot.index, toolCallId: id, toolName: name, delta })
      return
    }
    slot.held += delta
    release(slot, this.#emit)
  }

  /** Sets the final arguments text, which replaces the fragments. */
  replaceArguments(key: BlockKey, text: string): void {
    const slot = this.#find(key)
    if (slot?.kind === 'toolCall') slot.whole = text
  }

  /** Marks a call whose end is missing. The arguments are invalid, and the call does not run. */
  cutCall(key: BlockKey): void {
    const slot = this.#find(key)
    if (slot?.kind === 'toolCall') slot.isCut = true
  }

  /**
   * Marks a call whose end is missing in a complete response. Accepts complete JSON arguments. Absent arguments count as truncated.
   */
  unendedCall(key: BlockKey): void {
    const slot = this.#find(key)
    if (slot?.kind === 'toolCall' && slot.raw.trim() === '') slot.isCut = true
  }

  /** Returns a block's text or arguments so far. Returns an empty string if the block does not exist. */
  written(key: BlockKey): string {
    const slot = this.#slots.get(key)
    if (slot?.kind === 'text') return slot.block.text
    if (slot?.kind === 'toolCall') return slot.raw
    return slot?.kind === 'thinking' ? slot.block.thinking : ''
  }

  /** Appends to the signature of a thinking block. Creates the block if needed, because withheld thinking may still have a signature. */
  setSignature(key: BlockKey, fragment: string): void {
    const more = textIn(fragment, 'a signature')
    if (more === '') return
    const slot = this.#thinkingSlot(key)
    if (slot !== undefined) slot.block.signature = (slot.block.signature ?? '') + more
  }

  /** Attaches opaque state to the block of `key`, or to a new empty block of kind `opens`. */
  setProviderState(key: BlockKey, state: ProviderState, opens: 'thinking' | 'text' = 'thinking'): void {
    // The call became text, so drop the state of the call.
    if (key === this.#answerKey) return
    const slot = this.#find(key) ?? (opens === 'text' ? this.#add(key, emptySlots.text()) : this.#thinkingSlot(key))
    if (slot !== undefined && slot.kind !== 'ignored') slot.block.providerState = state
  }

  /**
   * Completes the message and parses the arguments of each call once. Empty text and `null` become `{}`. Any other text that is ambiguous
   * or not a JSON object becomes `{}` with `invalidArguments`. If a message has calls but no stop reason, the stop reason is `toolUse`.
   */
  finish(stopReason: StopReason, usage: Usage): AssistantMessage {
    this.start()
    const cutFrom = stopReason === 'length' ? this.message.content.length - 1 : Number.POSITIVE_INFINITY
    endCalls(this.#slots.values(), cutFrom, this.#model, this.#emit)
    const hasCalls = hasCallsToAnswer(this.message.content)
    const key = this.#answerKey
    // Absent arguments become an empty object, unless the call was truncated before them.
    if (key !== undefined && this.#find(key) === undefined && stopReason !== 'length') this.text(key, '{}')
    if (hasCalls && stopReason === 'stop') this.message.stopReason = 'toolUse'
    else this.message.stopReason = key !== undefined && !hasCalls && stopReason === 'toolUse' ? 'stop' : stopReason
    const { stopReason: reason } = this.message
    // Leave a tool with a pending approval open, because it continues after the decision.
    if (reason !== 'paused' && !(reason === 'toolUse' && this.keepsTools))
      for (const block of this.message.content) if (isRunningTool(block) && !block.needsApproval) this.serviceTool(interruptedTool(block))
    if (this.#placed.size > 0) this.message.content = settled(this.message.content, this.#placed)
    if (this.#refusals.size > 0) this.message.content = this.message.content.filter((block) => !this.#refusals.has(block))
    this.#addUsage(usage)
    return this.message
  }

  #addUsage(usage: Usage): void {
    const before = this.#usageBefore
    this.message.usage = before === undefined ? usage : { ...combineUsage(before, usage), contextTokens: contextTokensOf(usage) }
  }

  /** Completes the message after a failure with the content received so far. Calls with incomplete arguments count as truncated. */
  fail(stopReason: 'error' | 'aborted', errorMessage: string): AssistantMessage {
    endCalls(this.#slots.values(), 0, this.#model, this.#emit)
    this.message.content = withToolsEnded(settled(this.message.content, this.#placed))
    if (this.#usage !== undefined) this.#addUsage(this.#usage)
    this.message.stopReason = stopReason
    this.message.errorMessage = errorMessage
    return this.message
  }

  #find(key: BlockKey): Slot | IgnoredSlot | undefined {
    if (key === this.#lastKey) return this.#last
    const slot = this.#slots.get(key)
    if (slot !== undefined) {
      this.#lastKey = key
      this.#last = slot
    }
    return slot
  }

  #add(key: BlockKey, slot: Slot): Slot {
    if (this.#waiting.size > 0)
      for (const [earlier, kind] of waitingBefore(this.#waiting, key)) this.#placed.add(this.#append(earlier, emptySlots[kind]()).block)
    return this.#append(key, slot)
  }

  #append(key: BlockKey, slot: Slot): Slot {
    this.start()
    slot.index = this.message.content.length
    // Not retryable, because the next response would probably have the same length.
    if (slot.index >= maxBlocks)
      throw new ProviderError('api', `The response has more than ${maxBlocks} blocks, so it is not a valid model response.`)
    this.message.content.push(slot.block)
    this.#slots.set(key, slot)
    this.#lastKey = key
    this.#last = slot
    return slot
  }

  /**
   * Converts a call to the answer tool to text. Drops a second call to the tool. `opened` is the call's block if its name arrived late and
   * it was not emitted yet.
   */
  #takeAnswer(key: BlockKey, opened: ToolCallSlot | undefined): void {
    if (this.#answerKey === key || (opened !== undefined && opened.block.name !== '')) return
    if (opened !== undefined || this.#answerKey !== undefined) {
      const block = { type: 'text' as const, text: '' }
      this.#slots.set(key, this.#answerKey === undefined && opened !== undefined ? { kind: 'text', index: opened.index, block } : ignored)
      this.#lastKey = undefined
      if (opened !== undefined) this.message.content[opened.index] = block
    }
    if (this.#answerKey !== undefined) return
    this.#answerKey = key
    if (opened !== undefined) this.text(key, opened.held)
  }

  #thinkingSlot(key: BlockKey): ThinkingSlot | undefined {
    const slot = this.#find(key) ?? this.#add(key, emptySlots.thinking())
    return slot.kind === 'thinking' ? slot : undefined
  }
}
