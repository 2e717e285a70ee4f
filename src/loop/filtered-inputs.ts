import { raceAbort } from '../base/abort.ts'
import { errorText } from '../types/errors.ts'
import type { RunStatus } from '../types/event.ts'
import type { FilterVerdict, InputFilter } from '../types/input-filter.ts'
import { type AgentMessage, text, textOf } from '../types/message.ts'
import type { MessageSupplier } from './loop-config.ts'
import type { LoopRun } from './loop-run.ts'

/** What a supplier may hand over: its messages, and what goes into the history in their place. */
interface Passed {
  originals: readonly AgentMessage[]
  accepted: AgentMessage[]
  /** Already handed over, by a supplier that cannot be looked into. */
  isTaken: boolean
}

/**
 * Lets input filters look at what waits, before it goes into the history. What was refused never gets there; what arrives later waits for the
 * next turn.
 *
 * Source: spec/27 "Input Filter Chain".
 */
export class FilteredInputs {
  readonly #run: LoopRun
  readonly #filters: readonly InputFilter[]
  readonly #passed = new Map<MessageSupplier, Passed>()

  constructor(run: LoopRun) {
    this.#run = run
    this.#filters = run.config.inputFilters ?? []
  }

  /** Filters what `inputs` and steering would hand over now. How the run ends when something is refused, or `undefined`. */
  async filter(inputs: MessageSupplier): Promise<RunStatus | undefined> {
    if (this.#filters.length === 0) return undefined
    const { steering } = this.#run.config
    for (const supplier of steering === undefined || steering === inputs ? [inputs] : [inputs, steering]) {
      const looked = look(supplier)
      if (looked.originals.length === 0) continue
      const refused = await this.#check(supplier, looked)
      if (refused !== undefined) return refused
    }
    return undefined
  }

  /** Whether something that passed is kept here, because its supplier could not be looked into. */
  get hasTaken(): boolean {
    return [...this.#passed.values()].some(({ isTaken }) => isTaken)
  }

  /** What of `supplier` passed. */
  take(supplier: MessageSupplier): readonly AgentMessage[] {
    if (this.#filters.length === 0) return supplier.take()
    const passed = this.#passed.get(supplier)
    this.#passed.delete(supplier)
    if (passed === undefined) return []
    if (passed.isTaken) return passed.accepted
    const taken = new Set(supplier.take(passed.originals).map((message) => message.id))
    return passed.accepted.filter((message) => taken.has(message.id))
  }

  async #check(supplier: MessageSupplier, looked: Passed): Promise<RunStatus | undefined> {
    const run = this.#run
    const warnings: string[] = []
    for (const filter of this.#filters) {
      const verdict = await this.#verdict(filter, looked.originals)
      if (run.signal.aborted) return run.failure === undefined ? 'aborted' : 'error'
      if (verdict.type === 'warn') warnings.push(`[Warning: ${verdict.warning}]`)
      if (verdict.type !== 'reject') continue
      supplier.giveBack?.(looked.originals)
      run.rejection = verdict.reason
      run.events.emit({ type: 'inputRejected', reason: verdict.reason })
      return 'rejected'
    }
    this.#passed.set(supplier, { ...looked, accepted: warned(looked.originals, warnings) })
    return undefined
  }

  async #verdict(filter: InputFilter, messages: readonly AgentMessage[]): Promise<FilterVerdict> {
    const { signal } = this.#run
    const said = messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : [])).join('\n')
    try {
      // An async function, so that a filter that throws at once is a rejection too. A copy: a filter judges, it does not rewrite.
      const verdict = await raceAbort((async () => filter(said, { messages: structuredClone(messages), signal }))(), signal)
      if (verdict.type === 'pass' || verdict.type === 'warn' || verdict.type === 'reject') return verdict
      throw new TypeError('an input filter must return { type } of pass, warn or reject')
    } catch (error) {
      if (!signal.aborted) this.#run.warn('filterFailed', { message: errorText(error) })
      return { type: 'reject', reason: 'An input filter failed; the input was refused.' }
    }
  }
}

function look(supplier: MessageSupplier): Passed {
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
