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
 * What a caller handed in, as history entries.
 *
 * Throws `ConfigError`: `invalidMessage` for what is no message, `emptyPrompt` for no messages, blank text or a user message without content.
 */
export function toMessages(input: PromptInput): AgentMessage[] {
  const messages = toHistory(input, 'prompt')
  if (messages.length === 0) throw new ConfigError('emptyPrompt', 'The prompt has no messages. Pass text or at least one message.')
  for (const message of messages) {
    if (message.role !== 'user') continue
    const isBlank = message.content.every((block) => block.type === 'text' && block.text.trim() === '')
    if (isBlank) throw new ConfigError('emptyPrompt', 'The prompt is empty. Pass some text or an image.')
  }
  return messages
}

/** Hands over a prompt, once. */
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

/** The loop as its input needs it. */
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

/** What a turn begins with, besides steering. */
export interface TurnInput {
  /** Where it comes from; absent: the history is answered as it is. */
  supplier?: MessageSupplier
  /** Noted on what was queued, for request captures. */
  origin?: 'steering' | 'followUp'
}

/** What one turn takes in. */
export interface Intake {
  readonly messages: readonly AgentMessage[]
  /** Whether a model has something to answer: extensions are for the application alone. */
  readonly hasWords: boolean
  readonly isSteered: boolean
}

/**
 * The next input of a loop goes into the history here; what was refused never gets there.
 *
 * **Contract**
 * - What is taken is delivered, in the same step: nobody can take it back between the last look at a queue and the turn that answers it.
 * - What the run was given and has not taken in comes out of `leave`, once.
 */
export class InputGate {
  readonly #loop: InputLoop
  /** Callbacks that may make a message of an extension. */
  readonly #showsExtensions: boolean
  #prompt: MessageSupplier | undefined
  /** What a plugin said last. */
  #said: MessageSupplier | undefined
  #prompted: readonly AgentMessage[] = []
  readonly #refused: AgentMessage[] = []
  readonly #filters: readonly InputFilter[]
  /** Another model may be chosen for the turn. */
  readonly #mayCheckMedia: boolean
  readonly #steering: MessageSupplier | undefined
  readonly #followUps: MessageSupplier | undefined
  /** Resolves when what was queued is written, or was refused. */
  written: Promise<unknown> | undefined
  /** What has passed the filters and waits for its turn. */
  readonly #passed = new Map<MessageSupplier, PassedInput>()

  constructor(loop: InputLoop, { inputFilters = [], steering, followUps, transformContext, convertToLlm, hooks }: LoopConfig) {
    this.#loop = loop
    this.#mayCheckMedia = hooks?.prepareTurn === undefined
    this.#showsExtensions = transformContext !== undefined || convertToLlm !== undefined
    this.#filters = inputFilters
    this.#steering = steering
    this.#followUps = followUps
  }

  /** The beginning of the loop is recorded: what is queued is from now on. */
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

  /** The input of the first turn. */
  prompt(messages: AgentMessage[]): TurnInput {
    this.#prompted = messages
    this.#prompt = promptSupplier(messages)
    return { supplier: this.#prompt }
  }

  /** Whether somebody steers now. A supplier that throws ends the run. */
  get isSteered(): boolean {
    return this.#isWaiting(this.#steering)
  }

  /** Follow-ups as the input of the next turn, where some wait; also a report, which every turn takes in. A supplier that throws ends the run. */
  followUps(): TurnInput | undefined {
    if (this.#followUps !== undefined && this.#isWaiting(this.#followUps)) return { supplier: this.#followUps, origin: 'followUp' }
    return this.#hasReports ? {} : undefined
  }

  /** What a plugin says when the model has nothing more to do, as the input of the next turn. */
  more(words: AgentMessage): TurnInput {
    this.#said = promptSupplier([words])
    return { supplier: this.#said }
  }

  /** Calls `told` when something is queued; returns how to stop. What a supplier queues that cannot tell is found at the next look. */
  onQueued(told: () => void): () => void {
    const stops = [this.#steering, this.#followUps].map((supplier) => supplier?.onQueued?.(told))
    return () => {
      for (const stop of stops) stop?.()
    }
  }

  get #hasReports(): boolean {
    return this.#loop.background?.hasReports === true
  }

  /** Whether something waits, passed or not. */
  get isWaiting(): boolean {
    return this.#passed.size > 0 || this.isSteered || this.#hasReports || this.#isWaiting(this.#followUps)
  }

  /**
   * Shows the filters what `input` and steering would hand over now. How the run ends when something is refused. What arrives later waits for
   * the next turn.
   */
  filter(input: TurnInput): Promise<RunEnding | undefined> | undefined {
    const filter = () => (this.#filters.length === 0 ? undefined : this.#filterAll(input))
    const checking = this.#mayCheckMedia && input.supplier === this.#prompt ? this.#checkMedia() : undefined
    return checking === undefined ? filter() : checking.then((refused) => refused ?? filter())
  }

  /** Shows the provider the media of the prompt. How the run ends if its service would refuse them; what is queued is checked with the request. */
  #checkMedia(): Promise<RunEnding | undefined> | undefined {
    const { turn, stop } = this.#loop
    const media = this.#prompted.flatMap((message) => (message.role === 'user' ? message.content.filter(isMedia) : []))
    const checking = media.length === 0 ? undefined : turn.model.provider.checkMedia?.(media, turn.model.config)
    return (
      checking &&
      stop.race(checking).then(nothing, (error) => this.#stopped() ?? { status: 'error', error: this.#loop.log.failureOf(error) })
    )
  }

  /** How the run ends if it was stopped. */
  #stopped(): RunEnding | undefined {
    const { stop, failure } = this.#loop
    if (!stop.aborted) return undefined
    return failure === undefined ? { status: 'aborted' } : { status: 'error', error: failure }
  }

  /** Takes what may go into the history now: reports, `input`, then steering. Nothing once the run was stopped. A supplier that throws ends the run. */
  take({ supplier, origin }: TurnInput): Intake {
    const said = this.#takeFrom(supplier, origin)
    const steered = this.#takeFrom(this.#steering, 'steering')
    // No person's words: filters of input do not judge them, hooks of results have.
    const reports = this.#loop.stop.aborted ? [] : (this.#loop.background?.takeReports() ?? [])
    const messages = [...reports, ...said, ...steered]
    const hasWords = this.#showsExtensions ? messages.length > 0 : messages.some(isLlmMessage)
    return { messages, hasWords, isSteered: steered.length > 0 }
  }

  /** Puts what was taken into the history, and what was steered meanwhile. Rejects with `JournalError`. */
  accept({ messages, isSteered }: Intake): Promise<void> | undefined {
    const added = addInput(this.#loop, messages, (unrecorded) => this.#unsay(unrecorded))
    if (isSteered) return added
    return added === undefined ? this.#acceptSteering() : added.then(() => this.#acceptSteering())
  }

  /** A prompt of which the journal has stored nothing was not said: it is no part of the history, and is returned. */
  #unsay(unrecorded: readonly AgentMessage[]): void {
    for (const message of unrecorded) {
      const said = this.#prompted.find(({ id }) => id === message.id)
      if (said === undefined) continue
      this.#loop.takeBack(message)
      this.#refused.push(said)
    }
  }

  /** What the run was given and did not take in. Its queues give up what they hold for this run alone. */
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
      // No caller has said what a plugin says.
      if (supplier !== this.#said) this.#refused.push(...looked.originals)
      loop.events.emit({ type: 'inputRejected', reason: verdict.reason })
      return { status: 'rejected', rejection: verdict.reason }
    }
    this.#passed.set(supplier, { ...looked, accepted: warned(looked.originals, warnings) })
    return undefined
  }

  async #verdict(filter: InputFilter, messages: readonly AgentMessage[]): Promise<FilterVerdict> {
    const { stop } = this.#loop
    const said = messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : [])).join('\n')
    try {
      // An async function, so that a filter that throws at once is a rejection too. A copy: a filter judges, it does not rewrite.
      const judged = (async () => filter(said, { messages: structuredClone(messages), signal: stop.signal }))()
      const verdict = await stop.race(judged)
      if (verdict.type === 'pass' || verdict.type === 'warn' || verdict.type === 'reject') return verdict
      throw new TypeError('an input filter must return { type } of pass, warn or reject')
    } catch (error) {
      if (!stop.aborted) this.#loop.log.warn('filterFailed', { message: errorText(error) })
      return { type: 'reject', reason: 'An input filter failed; the input was refused.' }
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

/** What a supplier may hand over: its messages, and what goes into the history in their place. */
interface PassedInput {
  originals: readonly AgentMessage[]
  accepted: AgentMessage[]
  /** Already handed over, by a supplier that cannot be looked into. */
  isTaken: boolean
}

function nothing(): undefined {}

function look(supplier: MessageSupplier): PassedInput {
  if (supplier.peek !== undefined) return { originals: supplier.peek(), accepted: [], isTaken: false }
  return { originals: supplier.waiting() ? supplier.take() : [], accepted: [], isTaken: true }
}

/** The same messages, the last user message with the warnings as one more block. */
function warned(messages: readonly AgentMessage[], warnings: readonly string[]): AgentMessage[] {
  const last = warnings.length === 0 ? -1 : messages.findLastIndex((message) => message.role === 'user')
  return messages.map((message, at) => {
    if (at !== last || message.role !== 'user') return message
    return { ...message, content: [...message.content, text(warnings.join('\n'))] }
  })
}

/** The failure of a queue of somebody else's, named. */
function supplierFailed(origin: TurnInput['origin'], error: unknown): PhiError {
  return callbackFailed(origin === 'followUp' ? 'followUps' : 'steering', error)
}

function withOrigin(message: AgentMessage, kind: NonNullable<TurnInput['origin']>): AgentMessage {
  return isLlmMessage(message) ? { provenanceHint: { kind }, ...message } : message
}

/**
 * Puts messages that no model wrote into the history, all of them before anything is awaited, makes them durable and reports each once it is.
 * Rejects with `JournalError`. No promise where nothing has to be awaited.
 */
function addInput(loop: InputLoop, inputs: readonly AgentMessage[], onRefused: OnRefused = () => undefined): Promise<void> | undefined {
  if (inputs.length === 0) return undefined
  const turnId = { loopId: loop.events.loopId, turnIndex: loop.turnIndex }
  const stamped = inputs.map((message) => (isLlmMessage(message) ? { ...message, turnId } : message))
  for (const message of stamped) loop.append(message)
  return reportInput(loop, stamped, onRefused)
}

/** Is given the messages that are not recorded. */
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

/** As input, what the loop itself has to say. Never rejects: a journal that refuses it fails the run. */
export async function addNotice(loop: InputLoop, notice: AgentMessage): Promise<void> {
  try {
    await addInput(loop, [notice])
  } catch (error) {
    loop.fail(error)
  }
}

/** Puts input into the history that no turn answers. Never rejects: a journal that refuses it fails the run. */
export async function acceptUnanswered(loop: Pick<InputLoop, 'fail'> & { readonly inputs: InputGate }, intake: Intake): Promise<void> {
  try {
    await loop.inputs.accept(intake)
  } catch (error) {
    loop.fail(error)
  }
}
