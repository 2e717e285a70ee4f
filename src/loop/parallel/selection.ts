import { catchLate, raceAbort } from '../../base/abort.ts'
import { errorText } from '../../contract/errors.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { emptyUsage, largerUsage } from '../../contract/model/usage.ts'
import type { Branch } from './branch.ts'
import type { Inquiry } from './inquiry.ts'
import type { ParallelEvents } from './parallel-events.ts'
import { candidates, type Evaluation, type EvaluationStrategy, type ParallelOutcome } from './strategies.ts'

/** Lets a strategy select one of `branches`. Always selects one and never throws. Logs the strategy's errors. */
export class Selection {
  readonly #strategy: EvaluationStrategy
  readonly #branches: readonly Branch[]
  readonly #events: ParallelEvents
  readonly #settled: ParallelOutcome[] = []
  #early: number | undefined

  constructor(strategy: EvaluationStrategy, branches: readonly Branch[], events: ParallelEvents) {
    this.#strategy = strategy
    this.#branches = branches
    this.#events = events
  }

  /** Reports an ended branch to the strategy. If the strategy selects a branch, aborts all other branches. */
  settle(outcome: ParallelOutcome): void {
    this.#settled.push(outcome)
    if (this.#early !== undefined) return
    this.#early = this.#askEarly(outcome)
    if (this.#early === undefined) return
    for (const branch of this.#branches) if (branch.index !== this.#early) branch.abort(new Error('another branch was chosen'))
  }

  /** Selects a branch after all have ended. Closes `inquiry`. */
  async decide(prompt: readonly AgentMessage[], outcomes: readonly ParallelOutcome[], inquiry: Inquiry): Promise<Evaluation> {
    try {
      if (this.#early !== undefined) return { selectedIndex: this.#early, usage: emptyUsage() }
      if (!inquiry.signal.aborted) return await this.#evaluate(prompt, outcomes, inquiry)
    } catch (error) {
      if (!inquiry.signal.aborted) this.#failed(error)
    } finally {
      await inquiry.close()
    }
    return { selectedIndex: candidates(outcomes)[0]?.index ?? 0, usage: inquiry.usage }
  }

  async #evaluate(prompt: readonly AgentMessage[], outcomes: readonly ParallelOutcome[], inquiry: Inquiry): Promise<Evaluation> {
    const { signal, ask } = inquiry
    const progress = (line: { toolCallId: string; toolName: string; text: string }) =>
      this.#events.emit({ type: 'progressMessage', ...line })
    // An async function turns a synchronous throw into a rejection.
    const work = (async () => this.#strategy.evaluate({ prompt, outcomes, signal, ask, progress }))()
    const { selectedIndex, usage, reason } = await raceAbort(work, signal)
    const own = { ...emptyUsage(), ...usage }
    for (const [name, tokens] of Object.entries(own)) {
      if (!(typeof tokens === 'number' && tokens >= 0 && tokens < Infinity)) throw new RangeError(`its usage.${name} is ${String(tokens)}`)
    }
    const words = typeof reason === 'string' ? { reason } : {}
    // A strategy may report more usage than its model calls had, but not less.
    return { selectedIndex: this.#checked(selectedIndex), usage: largerUsage(own, inquiry.usage), ...words }
  }

  #askEarly(outcome: ParallelOutcome): number | undefined {
    try {
      const index: unknown = this.#strategy.settled?.(outcome, [...this.#settled], this.#branches.length)
      // `settled` must be synchronous. If it returns a promise, handle its rejection.
      catchLate(index, (error) => this.#failed(error))
      return index === undefined ? undefined : this.#checked(index)
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  #checked(index: unknown): number {
    if (typeof index === 'number' && this.#branches[index] !== undefined) return index
    throw new RangeError(`it returned branch ${shown(index)}; expected a whole number from 0 to ${this.#branches.length - 1}`)
  }

  #failed(error: unknown): void {
    this.#events.warn('evaluationFailed', `The strategy "${this.#strategy.name}" failed: ${errorText(error)}`)
  }
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
