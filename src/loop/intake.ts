import type { AbortScope } from '../base/abort.ts'
import { ConfigError, callbackFailed, errorText, JournalError, type PhiError } from '../contract/errors.ts'
import { isMedia } from '../contract/message/content.ts'
import { toHistory } from '../contract/message/history.ts'
import { type AgentMessage, isLlmMessage, type PromptInput, text, textOf } from '../contract/message/message.ts'
import type { RunFailure } from '../contract/run/run-facts.ts'
import type { JournalEntry } from '../contract/session/journal-entry.ts'
import type { FilterVerdict, InputFilter } from '../types/run/question.ts'
import type { RunEnding } from '../types/run/run.ts'
import type { EventEmitter } from './event-emitter.ts'
import type { LoopConfig, MessageSupplier } from './loop-config.ts'
import type { RunLog } from './run-log.ts'
import type { TurnSetup } from './turn/turn-setup.ts'

/**
 * Converts caller input to history entries.
 *
 * Throws `ConfigError`: `invalidMessage` for an invalid message, `emptyPrompt` for no messages, blank text or a user message without
 * content.
 */
export function toMessages(input: PromptInput): AgentMessage[] {
  const messages = toHistory(input, 'prompt')
  if (messages.length === 0) throw new ConfigError('emptyPrompt', 'The prompt is an empty list. Pass text or at least one message.')
  for (const message of messages) {
    if (message.role !== 'user') continue
    const isBlank = message.content.every((block) => block.type === 'text' && block.text.trim() === '')
    if (isBlank) throw new ConfigError('emptyPrompt', 'The prompt is empty. Pass text or an image.')
  }
  return messages
}

/** Supplies a prompt once, through the queue interface. */
function promptSupplier(messages: AgentMessage[]): MessageSupplier {
  let rest = messages
  return {
    waiting: () => rest.length > 0,
    peek: () => rest,
    take: () => {
      const taken = rest
      rest = []
      return taken
    },
    leave: () => rest,
  }
}

/** The fields of a loop that input handling uses. */
export interface InputLoop {
  readonly events: EventEmitter
  readonly stop: AbortScope
  readonly turnIndex: number
  readonly failure: RunFailure | undefined
  readonly turn: Pick<TurnSetup, 'model'>
  readonly log: Pick<RunLog, 'warn' | 'failureOf'>
  readonly background: { readonly hasReports: boolean; takeReports(): AgentMessage[] } | undefined
  append(message: AgentMessage): void
  takeBack(message: AgentMessage): void
  record(entry: JournalEntry): Promise<void> | undefined
  fail(error: unknown): void
}

/** A turn's input, apart from steering. */
export interface TurnInput {
  /** Supplies the input. Absent if the model only responds to the history. */
  supplier?: MessageSupplier
  /** Where the input came from, for request captures. */
  origin?: 'steering' | 'followUp'
}

/** Input that one turn accepts. */
export interface Intake {
  readonly messages: readonly AgentMessage[]
  /** Whether the input contains messages for the model. Extension messages are only for the application. */
  readonly hasWords: boolean
  readonly isSteered: boolean
}

/**
 * Filters a loop's input and adds it to the history. Rejected input never enters the history.
 *
 * **Contract**
 * - Takes input synchronously, so that a caller cannot withdraw it between the queue check and its turn.
 * - `leave` returns the input that was not accepted. Call it once.
 */
export class InputGate {
  readonly #loop: InputLoop
  /** Whether callbacks may convert extensions to messages. */
  readonly #showsExtensions: boolean
  #prompt: MessageSupplier | undefined
  /** Latest input that a plugin supplied. */
  #promptSupplier: MessageSupplier | undefined
  #prompted: readonly AgentMessage[] = []
  readonly #refused: AgentMessage[] = []
  readonly #filters: readonly InputFilter[]
  /** Whether another model may be chosen for the turn. */
  readonly #mayCheckMedia: boolean
  readonly #steering: MessageSupplier | undefined
  readonly #followUps: MessageSupplier | undefined
  /** Resolves when the record of queued messages is written or rejected. */
  written: Promise<unknown> | undefined
  /** Input that passed the filters and is waiting for its turn. */
  readonly #passed = new Map<MessageSupplier, PassedInput>()

  constructor(loop: InputLoop, { inputFilters = [], steering, followUps, transformContext, convertToLlm, hooks }: LoopConfig) {
    this.#loop = loop
    this.#mayCheckMedia = hooks?.prepareTurn === undefined
    this.#showsExtensions = transformContext !== undefined || convertToLlm !== undefined
    this.#filters = inputFilters
    this.#steering = steering
    this.#followUps = followUps
  }

  /** Called when the loop's start is recorded. Messages queued later are recorded too. */
  began(): void {
    for (const kind of ['steer', 'followUp'] as const) {
      const supplier = kind === 'followUp' ? this.#followUps : this.#steering
      supplier?.record?.((messages, isReturned) => {
        const recorded = this.#loop.record({ type: 'queued', kind, messages, isReturned })
        this.written = Promise.all([this.written, recorded?.catch((error) => this.#loop.fail(error))])
        return recorded
      })
    }
  }

  /** Returns the input of the first turn. */
  prompt(messages: AgentMessage[]): TurnInput {
    this.#prompted = messages
    this.#prompt = promptSupplier(messages)
    return { supplier: this.#prompt }
  }

  /** Whether a steering message is queued. A supplier that throws ends the run. */
  get isSteered(): boolean {
    return this.#isWaiting(this.#steering)
  }

  /** Returns queued follow-ups as the next turn's input. A pending report also starts a turn. A supplier that throws ends the run. */
  followUps(): TurnInput | undefined {
    if (this.#followUps !== undefined && this.#isWaiting(this.#followUps)) return { supplier: this.#followUps, origin: 'followUp' }
    return this.#hasReports ? {} : undefined
  }

  /** Uses a plugin's input for the next turn. */
  more(words: AgentMessage): TurnInput {
    this.#promptSupplier = promptSupplier([words])
    return { supplier: this.#promptSupplier }
  }

  /**
   * Calls `listener` on every enqueue. Returns a function that unsubscribes. Suppliers without notifications are polled at the next
   * checkpoint.
   */
  onQueued(listener: () => void): () => void {
    const stops = [this.#steering, this.#followUps].map((supplier) => supplier?.onQueued?.(listener))
    return () => {
      for (const stop of stops) stop?.()
    }
  }

  get #hasReports(): boolean {
    return this.#loop.background?.hasReports === true
  }

  /** Whether any input is queued, before or after filtering. */
  get isWaiting(): boolean {
    return this.#passed.size > 0 || this.isSteered || this.#hasReports || this.#isWaiting(this.#followUps)
  }

  /** Filters `input` and steering messages. Returns the ending if a filter rejects any. Later messages wait for the next turn. */
  filter(input: TurnInput): Promise<RunEnding | undefined> | undefined {
    const filter = () => (this.#filters.length === 0 ? undefined : this.#filterAll(input))
    const checking = this.#mayCheckMedia && input.supplier === this.#prompt ? this.#checkMedia() : undefined
    return checking === undefined ? filter() : checking.then((refused) => refused ?? filter())
  }

  /**
   * Validates the prompt's media with the provider. Returns the ending if the provider rejects any. The request validates media in queued
   * messages.
   */
  #checkMedia(): Promise<RunEnding | undefined> | undefined {
    const { turn, stop } = this.#loop
    const media = this.#prompted.flatMap((message) => (message.role === 'user' ? message.content.filter(isMedia) : []))
    const checking = media.length === 0 ? undefined : turn.model.provider.checkMedia?.(media, turn.model.config)
    return (
      checking &&
      stop.race(checking).then(nothing, (error) => this.#stopped() ?? { status: 'error', error: this.#loop.log.failureOf(error) })
    )
  }

  /** Returns the ending if the run was stopped. */
  #stopped(): RunEnding | undefined {
    const { stop, failure } = this.#loop
    if (!stop.aborted) return undefined
    return failure === undefined ? { status: 'aborted' } : { status: 'error', error: failure }
  }

  /**
   * Takes reports, `input` and steering messages, in this order, for the history. Takes nothing if the run was stopped. A supplier that
   * throws ends the run.
   */
  take({ supplier, origin }: TurnInput): Intake {
    const prompts = this.#takeFrom(supplier, origin)
    const steered = this.#takeFrom(this.#steering, 'steering')
    // Input filters do not apply to reports, which are not user input and have passed the result hooks.
    const reports = this.#loop.stop.aborted ? [] : (this.#loop.background?.takeReports() ?? [])
    const messages = [...reports, ...prompts, ...steered]
    const hasWords = this.#showsExtensions ? messages.length > 0 : messages.some(isLlmMessage)
    return { messages, hasWords, isSteered: steered.length > 0 }
  }

  /** Appends taken input to the history, then steering messages that arrived in the meantime. Rejects with `JournalError`. */
  accept({ messages, isSteered }: Intake): Promise<void> | undefined {
    const added = addInput(this.#loop, messages, (unrecorded) => this.#unsay(unrecorded))
    if (isSteered) return added
    return added === undefined ? this.#acceptSteering() : added.then(() => this.#acceptSteering())
  }

  /** Removes a prompt from the history if the journal certainly did not store it. The run then returns the prompt as undelivered. */
  #unsay(unrecorded: readonly AgentMessage[]): void {
    for (const message of unrecorded) {
      const original = this.#prompted.find(({ id }) => id === message.id)
      if (original === undefined) continue
      this.#loop.takeBack(message)
      this.#refused.push(original)
    }
  }

  /** Returns the input that was not accepted. Queues release the messages that they hold for this run. */
  leave(): AgentMessage[] {
    const rest = [this.#prompt, this.#steering, this.#followUps].flatMap((supplier) => (supplier === undefined ? [] : this.#left(supplier)))
    return [...new Set([...rest, ...this.#refused])]
  }

  #acceptSteering(): Promise<void> | undefined {
    return addInput(this.#loop, this.#takeFrom(this.#steering, 'steering'))
  }

  #left(supplier: MessageSupplier): readonly AgentMessage[] {
    const passed = this.#passed.get(supplier)
    try {
      return [...(passed?.isTaken ? passed.originals : []), ...(supplier.leave?.() ?? [])]
    } catch (error) {
      this.#loop.log.warn('supplierFailed', { message: errorText(error) })
      return []
    }
  }

  #takeFrom(supplier: MessageSupplier | undefined, origin: TurnInput['origin']): readonly AgentMessage[] {
    if (supplier === undefined || this.#loop.stop.aborted) return []
    try {
      const taken = this.#filters.length === 0 ? supplier.take() : this.#takePassed(supplier)
      return origin === undefined ? taken : taken.map((message) => withOrigin(message, origin))
    } catch (error) {
      this.#loop.fail(supplierFailed(origin, error))
      return []
    }
  }

  #isWaiting(supplier: MessageSupplier | undefined): boolean {
    try {
      return supplier?.waiting() === true
    } catch (error) {
      this.#loop.fail(supplierFailed(supplier === this.#steering ? 'steering' : 'followUp', error))
      return false
    }
  }

  async #filterAll({ supplier }: TurnInput): Promise<RunEnding | undefined> {
    for (const each of [supplier, this.#steering]) {
      if (each === undefined) continue
      const looked = look(each)
      if (looked.originals.length === 0) continue
      const refused = await this.#check(each, looked)
      if (refused !== undefined) return refused
    }
    return undefined
  }

  async #check(supplier: MessageSupplier, looked: PassedInput): Promise<RunEnding | undefined> {
    const loop = this.#loop
    const warnings: string[] = []
    for (const filter of this.#filters) {
      const verdict = await this.#verdict(filter, looked.originals)
      const stopped = this.#stopped()
      if (stopped !== undefined) return stopped
      if (verdict.type === 'warn') warnings.push(`[Warning: ${verdict.warning}]`)
      if (verdict.type !== 'reject') continue
      supplier.giveBack?.(looked.originals)
      // Do not return a plugin's input, because no caller supplied it.
      if (supplier !== this.#promptSupplier) this.#refused.push(...looked.originals)
      loop.events.emit({ type: 'inputRejected', reason: verdict.reason })
      return { status: 'rejected', rejection: verdict.reason }
    }
    this.#passed.set(supplier, { ...looked, accepted: warned(looked.originals, warnings) })
    return undefined
  }

  async #verdict(filter: InputFilter, messages: readonly AgentMessage[]): Promise<FilterVerdict> {
    const { stop } = this.#loop
    const promptText = messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : [])).join('\n')
    try {
      // Use an async function, so that a synchronous throw becomes a rejection. Pass a copy, because the filter must not change the input.
      const judged = (async () => filter(promptText, { messages: structuredClone(messages), signal: stop.signal }))()
      const verdict = await stop.race(judged)
      if (verdict.type === 'pass' || verdict.type === 'warn' || verdict.type === 'reject') return verdict
      throw new TypeError("An input filter must return an object whose type is 'pass', 'warn' or 'reject'.")
    } catch (error) {
      if (!stop.aborted) this.#loop.log.warn('filterFailed', { message: errorText(error) })
      return { type: 'reject', reason: 'The input was refused because an input filter failed.' }
    }
  }

  #takePassed(supplier: MessageSupplier): readonly AgentMessage[] {
    const passed = this.#passed.get(supplier)
    this.#passed.delete(supplier)
    if (passed === undefined) return []
    if (passed.isTaken) return passed.accepted
    const taken = new Set(supplier.take(passed.originals).map((message) => message.id))
    return passed.accepted.filter((message) => taken.has(message.id))
  }
}

/** A supplier's input after filtering: the original messages, and their replacements for the history. */
interface PassedInput {
  originals: readonly AgentMessage[]
  accepted: AgentMessage[]
  /** Messages already taken from a supplier without `peek`. */
  isTaken: boolean
}

function nothing(): undefined {}

function look(supplier: MessageSupplier): PassedInput {
  if (supplier.peek !== undefined) return { originals: supplier.peek(), accepted: [], isTaken: false }
  return { originals: supplier.waiting() ? supplier.take() : [], accepted: [], isTaken: true }
}

/** Appends the warnings to the last user message as one block. */
function warned(messages: readonly AgentMessage[], warnings: readonly string[]): AgentMessage[] {
  const last = warnings.length === 0 ? -1 : messages.findLastIndex((message) => message.role === 'user')
  return messages.map((message, at) => {
    if (at !== last || message.role !== 'user') return message
    return { ...message, content: [...message.content, text(warnings.join('\n'))] }
  })
}

/** Creates the error for a failing message supplier. */
function supplierFailed(origin: TurnInput['origin'], error: unknown): PhiError {
  return callbackFailed(origin === 'followUp' ? 'followUps' : 'steering', error)
}

function withOrigin(message: AgentMessage, kind: NonNullable<TurnInput['origin']>): AgentMessage {
  return isLlmMessage(message) ? { provenanceHint: { kind }, ...message } : message
}

/**
 * Appends input to the history immediately, records it, and emits each recorded message. Rejects with `JournalError`. Returns no promise if
 * there is nothing to await.
 */
function addInput(loop: InputLoop, inputs: readonly AgentMessage[], onRefused: OnRefused = () => undefined): Promise<void> | undefined {
  if (inputs.length === 0) return undefined
  const turnId = { loopId: loop.events.loopId, turnIndex: loop.turnIndex }
  const stamped = inputs.map((message) => (isLlmMessage(message) ? { ...message, turnId } : message))
  for (const message of stamped) loop.append(message)
  return reportInput(loop, stamped, onRefused)
}

/** Receives the messages that were not recorded. */
type OnRefused = (unrecorded: readonly AgentMessage[]) => void

async function reportInput(loop: InputLoop, messages: readonly AgentMessage[], onRefused: OnRefused): Promise<void> {
  for (const [at, message] of messages.entries()) {
    const recorded = loop.record({ type: 'input', message })?.catch((error: unknown) => {
      if (error instanceof JournalError && error.hasStoredNothing) onRefused(messages.slice(at))
      throw error
    })
    if (recorded !== undefined) await recorded
    loop.events.message(message)
  }
}

/** Adds the loop's notices as input. Never rejects: if recording fails, the run fails. */
export async function addNotice(loop: InputLoop, ...notices: AgentMessage[]): Promise<void> {
  try {
    await addInput(loop, notices)
  } catch (error) {
    loop.fail(error)
  }
}

/** Adds input to the history without a turn that responds to it. Never rejects: if recording fails, the run fails. */
export async function acceptUnanswered(loop: Pick<InputLoop, 'fail'> & { readonly inputs: InputGate }, intake: Intake): Promise<void> {
  try {
    await loop.inputs.accept(intake)
  } catch (error) {
    loop.fail(error)
  }
}
