import { catchLate } from '../base/abort.ts'
import { errorText } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { StreamRequest } from '../types/model/provider.ts'
import type { LoopObserver, LoopStep, LoopWatch, TraceContext, WatchedLoop } from '../types/run/loop-watch.ts'

/** Receives the error message of a failing watch. */
type Warn = (message: string) => void

/** A step's outcome. */
type Outcome<T> = { value: T } | { error: unknown }

/** One loop's watches. The first watch is outermost. A failing watch never affects the loop: see {@link LoopWatch}. */
export class Watches {
  readonly #list: readonly LoopWatch[]
  readonly #warn: Warn

  private constructor(list: readonly LoopWatch[], warn: Warn) {
    this.#list = list
    this.#warn = warn
  }

  /**
   * Starts the watches. Returns `undefined` if there are none. Calls `warn` only for the first failure, because a failing watch usually
   * fails at every event.
   */
  static begin(observers: readonly LoopObserver[] | undefined, loop: () => WatchedLoop, warn: Warn): Watches | undefined {
    if (observers === undefined || observers.length === 0) return undefined
    const watched = loop()
    const warnOnce = once(warn)
    const list = observers.flatMap((observer) => quietly(warnOnce, () => observer.watch(watched)) ?? [])
    return list.length === 0 ? undefined : new Watches(list, warnOnce)
  }

  event(event: AgentEvent): void {
    for (const watch of this.#list) {
      try {
        // Create a closure only if there is a return value, because this runs once per delta.
        const outcome: unknown = watch.event?.(event)
        if (outcome !== undefined) catchLate(outcome, (error) => this.#warn(errorText(error)))
      } catch (error) {
        this.#warn(errorText(error))
      }
    }
  }

  request(request: StreamRequest): void {
    for (const watch of this.#list) quietly(this.#warn, () => watch.request?.(request))
  }

  /** Runs `work` inside all watches, once. Returns its value or throws its error. */
  around<T>(step: LoopStep, work: () => T): T {
    const [first] = this.#list
    if (first !== undefined && this.#list.length === 1) return this.#within(first, step, work)
    const run = this.#list.reduceRight((inner, watch) => () => this.#within(watch, step, inner), work)
    return run()
  }

  /** Returns the observers for the loops that a call starts. */
  inner(toolCallId?: string): LoopObserver[] {
    return this.#list.flatMap((watch) => quietly(this.#warn, () => watch.inner?.(toolCallId)) ?? [])
  }

  /** Returns the trace position of a call from the first watch that knows it. */
  trace(toolCallId: string): TraceContext | undefined {
    for (const watch of this.#list) {
      const found = quietly(this.#warn, () => watch.trace?.(toolCallId))
      if (found !== undefined) return found
    }
    return undefined
  }

  #within<T>(watch: LoopWatch, step: LoopStep, work: () => T): T {
    if (watch.around === undefined) return work()
    let outcome: Outcome<T> | undefined
    const run = (): T => {
      outcome ??= outcomeOf(work)
      if ('error' in outcome) throw outcome.error
      return outcome.value
    }
    try {
      const returned: unknown = watch.around(step, run)
      // `around` may return the promise from `work`. Another handler reports its rejection.
      catchLate(returned, () => undefined)
    } catch (error) {
      if (!(outcome !== undefined && 'error' in outcome && outcome.error === error)) this.#warn(errorText(error))
    }
    return run()
  }
}

function once(warn: Warn): Warn {
  let hasWarned = false
  return (message) => {
    if (!hasWarned) warn(message)
    hasWarned = true
  }
}

function outcomeOf<T>(work: () => T): Outcome<T> {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}

function quietly<T>(warn: Warn, act: () => T): T | undefined {
  try {
    const outcome = act()
    catchLate(outcome, (error) => warn(errorText(error)))
    return outcome
  } catch (error) {
    warn(errorText(error))
    return undefined
  }
}
