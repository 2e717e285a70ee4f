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

/** Blocks of one answer: what is done for a block may look at the others. */
const maxBlocks = 10_000

/**
 * Grows one assistant message from the fragments of a stream, the same for every protocol.
 *
 * **Contract**
 * - `message` is the object of the `start` event and of `finish()`; its strings grow by appending.
 * - A block exists from its first non-empty fragment on, so a `contentIndex` never changes and no empty text block is left but one that
 *   carries state, or holds the place of a block that began (`begins`) before others and stayed empty.
 * - Fragments of a call whose id or name is still unknown are held back; every delta carries the final id and name.
 * - Ids are unique within the message: missing and repeated ones are generated.
 * - A fragment that is empty is passed over; one that is no text, whatever its type says, is an error of the call.
 * - Arguments of more than 16 Mi characters fail the answer with `ProviderError`.
 * - A call that never got a name has no arguments of its own: another call may lack them, so none is run.
 * - Content that a codec does not know becomes an opaque block (`unknown`), never nothing; `warn` says what could not be kept.
 * - Keys are the codec's own and shared by all kinds of block.
 * - Every end closes every block: a provider-executed tool that still runs is failed, unless the provider goes on with it (see `keepsTools`).
 * - A call of `answerTool` (see `answerByTool`) is the answer: its arguments are a text block, and it does not count as a call.
 */
export class AssistantBuilder {
  readonly message: AssistantMessage
  /** Reported with `start`: what the encoder had to change or leave out. */
  warnings: readonly string[] = []
  /** The provider goes on with its tools once our calls are answered, so a response that stops with `toolUse` leaves them open. */
  keepsTools = false
  readonly #emit: (event: StreamEvent) => void
  readonly #answerTool: string | undefined
  readonly #model: ModelConfig
  readonly #slots = new Map<BlockKey, Slot | IgnoredSlot>()
  readonly #waiting: WaitingBlocks = new Map()
  /** Blocks that hold the place of one that has begun. */
  readonly #placed = new Set<Content>()
  readonly #ids = new Set<string>()
  #lastKey: BlockKey | undefined
  #last: Slot | IgnoredSlot | undefined
  /** Texts that are the refusal. */
  readonly #refusals = new Set<object>()
  /** The call whose arguments are the text of the answer. */
  #answerKey: BlockKey | undefined
  readonly #usageBefore: Usage | undefined
  #usage: Usage | undefined
  #started = false

  /** `continues`: the answer so far, which its service paused. It grows on. */
  constructor(model: ModelConfig, emit: (event: StreamEvent) => void, answerTool?: string, continues?: AssistantMessage) {
    this.#emit = emit
    this.#answerTool = answerTool
    this.#model = model
    this.#usageBefore = continues?.usage
    this.message = continues ?? emptyAnswer(model)
    if (continues !== undefined) this.#goOn(continues)
  }

  /** Tools of the service that have not ended yet end in the same block. */
  #goOn(message: AssistantMessage): void {
    message.stopReason = 'stop'
    message.content.forEach((block, index) => {
      if (block.type === 'serviceTool') this.#slots.set(serviceKey(block.id), { kind: 'whole', index, block })
    })
  }

  /** What this request uses, while it is counted: a message that fails later still says what it cost. */
  counts(usage: Usage): void {
    if (this.#usageBefore === undefined) this.message.usage = usage
    else this.#usage = usage
  }

  /** What the service calls its answer, and the model that gives it: the first of each counts, and what is no text, or an empty one, does not. */
  answeredBy(responseId: unknown, responseModel: unknown): void {
    const { message } = this
    if (message.responseId === undefined && isId(responseId)) message.responseId = responseId
    if (message.responseModel === undefined && isId(responseModel)) message.responseModel = responseModel
  }

  /** Emits `start`, once. Every operation that emits does so first. */
  start(): void {
    if (this.#started) return
    this.#started = true
    const { message, warnings } = this
    this.#emit(warnings.length === 0 ? { type: 'start', message } : { type: 'start', message, warnings })
  }

  /** Whether `start` was emitted. */
  get isStarted(): boolean {
    return this.#started
  }

  /** A block begins: blocks that begin later stand behind it, also if their content comes first. */
  begins(key: BlockKey, kind: BegunKind): void {
    if (!this.#slots.has(key)) this.#waiting.set(key, kind)
  }

  /** A block ends. Without content there is none. */
  ends(key: BlockKey): void {
    this.#waiting.delete(key)
  }

  /** The block that began as `from` has its content under `to`. */
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

  /** Appends to the refusal of the message. It is shown as a text while it comes, and is no block of the finished message. */
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

  /** Adds to what a text block rests on; it may come before the text. */
  citation(key: BlockKey, citation: Citation): void {
    const slot = this.#find(key) ?? this.#add(key, emptySlots.text())
    if (slot.kind !== 'text') return
    slot.block.citations ??= []
    slot.block.citations.push(citation)
    this.#emit({ type: 'citation', contentIndex: slot.index, citation })
  }

  /** Shows a block that is not written bit by bit, or shows it again: a picture that gets finer, a tool of the service that has ended. */
  whole(key: BlockKey, block: WholeBlock): void {
    const slot = this.#find(key) ?? this.#add(key, { kind: 'whole', index: 0, block })
    if (slot.kind !== 'whole') return
    slot.block = block
    this.message.content[slot.index] = block
    this.#emit({ type: 'block', contentIndex: slot.index, block })
  }

  /** The block under `key` as it was shown last, where it came whole. */
  shown(key: BlockKey): WholeBlock | undefined {
    const slot = this.#find(key)
    return slot?.kind === 'whole' ? slot.block : undefined
  }

  /** Shows a tool of the service, or what has become of it: by its id, also where an earlier request of this answer began it. */
  serviceTool(block: ServiceToolContent): void {
    this.whole(serviceKey(block.id), block)
  }

  /** The tool of the service with this id, as it was shown last. */
  serviceToolOf(id: string): ServiceToolContent | undefined {
    const shown = this.shown(serviceKey(id))
    return shown?.type === 'serviceTool' ? shown : undefined
  }

  /** Keeps what this codec does not know: `kind` is what the service calls it. One warning names the kind, and what becomes of it (`fate`). */
  unknown(key: BlockKey, kind: string, providerState: ProviderState, fate = 'sent back to that service'): void {
    this.whole(key, { type: 'opaque', kind, providerState })
    this.warn(`The service sent content of the kind "${kind.slice(0, 60)}", which this version does not know. It is kept, and ${fate}.`)
  }

  /** Says what of the answer could not be kept as it came. */
  warn(warning: string): void {
    this.start()
    this.#emit({ type: 'warning', warning })
  }

  /** Opens a call, or adds the id or name it lacked. What is already known is kept. */
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

  /** Appends to the argument text of a call, opening it if need be. */
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

  /** The service said at the end that the arguments are `text`, whatever the fragments were. */
  replaceArguments(key: BlockKey, text: string): void {
    const slot = this.#find(key)
    if (slot?.kind === 'toolCall') slot.whole = text
  }

  /** The end of the call of `key` never came: its arguments are invalid, whatever they are, and it is not to be run. */
  cutCall(key: BlockKey): void {
    const slot = this.#find(key)
    if (slot?.kind === 'toolCall') slot.isCut = true
  }

  /**
   * The end of the call of `key` never came although the answer is whole. Arguments that are complete say so themselves; where there are none, they may be
   * what is missing.
   */
  unendedCall(key: BlockKey): void {
    const slot = this.#find(key)
    if (slot?.kind === 'toolCall' && slot.raw.trim() === '') slot.isCut = true
  }

  /** The text of a text or thinking block so far, or of the arguments of a call; empty where there is none. */
  written(key: BlockKey): string {
    const slot = this.#slots.get(key)
    if (slot?.kind === 'text') return slot.block.text
    if (slot?.kind === 'toolCall') return slot.raw
    return slot?.kind === 'thinking' ? slot.block.thinking : ''
  }

  /** Appends to the signature of a thinking block, opening it if need be: reasoning may be withheld and still be signed. */
  setSignature(key: BlockKey, fragment: string): void {
    const more = textIn(fragment, 'a signature')
    if (more === '') return
    const slot = this.#thinkingSlot(key)
    if (slot !== undefined) slot.block.signature = (slot.block.signature ?? '') + more
  }

  /** Attaches opaque state to the block of `key`; where there is none, to a new empty block of the kind `opens`. */
  setProviderState(key: BlockKey, state: ProviderState, opens: 'thinking' | 'text' = 'thinking'): void {
    // What belongs to a call does not belong to the text that it became.
    if (key === this.#answerKey) return
    const slot = this.#find(key) ?? (opens === 'text' ? this.#add(key, emptySlots.text()) : this.#thinkingSlot(key))
    if (slot !== undefined && slot.kind !== 'ignored') slot.block.providerState = state
  }

  /**
   * Completes the message. The arguments of each call are parsed here, once; nothing and `null` are `{}`, other text that is no JSON object, or one that
   * means something else than it says, leaves `{}` and `invalidArguments`. A message with calls that stopped for no stated reason stopped to use them.
   */
  finish(stopReason: StopReason, usage: Usage): AssistantMessage {
    this.start()
    const cutFrom = stopReason === 'length' ? this.message.content.length - 1 : Number.POSITIVE_INFINITY
    endCalls(this.#slots.values(), cutFrom, this.#model, this.#emit)
    const hasCalls = hasCallsToAnswer(this.message.content)
    const key = this.#answerKey
    // Without arguments it is an empty object, unless it was cut off before the first.
    if (key !== undefined && this.#find(key) === undefined && stopReason !== 'length') this.text(key, '{}')
    if (hasCalls && stopReason === 'stop') this.message.stopReason = 'toolUse'
    else this.message.stopReason = key !== undefined && !hasCalls && stopReason === 'toolUse' ? 'stop' : stopReason
    const { stopReason: told } = this.message
    // A tool that waits for a person goes on after the decision.
    if (told !== 'paused' && !(told === 'toolUse' && this.keepsTools))
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

  /** Keeps what came before a failure. Calls count as cut unless their arguments are complete. */
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
    // Not retryable: the response would be as long again.
    if (slot.index >= maxBlocks) throw new ProviderError('api', `The answer has more than ${maxBlocks} blocks, which no model writes.`)
    this.message.content.push(slot.block)
    this.#slots.set(key, slot)
    this.#lastKey = key
    this.#last = slot
    return slot
  }

  /** `opened` is the block of a call whose name came late; nothing of it has been shown. A second answer is left out: one is enough. */
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
