import { AbortScope } from '../../base/abort.ts'
import { combineUsage, emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { Budget } from '../../types/run/budget.ts'
import type { RunResult } from '../../types/run/run.ts'
import { agentLoop } from '../agent-loop.ts'
import type { LoopConfig } from '../loop-config.ts'
import { nextLoopId } from '../loop-id.ts'
import { type IdentifiedContext, parentOf } from './branch.ts'
import type { ParallelEvents } from './parallel-events.ts'

/**
 * Runs a strategy's model calls, each as a loop.
 *
 * **Contract**: `close` stops running loops, removes its listeners, and resolves when all loops have ended.
 */
export class Inquiry {
  /** Usage of all ended loops. */
  usage: Usage = emptyUsage()
  readonly #base: IdentifiedContext
  readonly #events: ParallelEvents
  readonly #budget: Budget | undefined
  readonly #stop: AbortScope
  readonly #running = new Set<Promise<unknown>>()

  constructor(base: IdentifiedContext, events: ParallelEvents, options: { signal: AbortSignal; budget?: Budget }) {
    this.#base = base
    this.#events = events
    this.#budget = options.budget
    this.#stop = new AbortScope(options.signal)
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** See `EvaluationInput.ask`. */
  readonly ask = (prompt: string, config: LoopConfig, systemPrompt: string): Promise<RunResult> => {
    const running: Promise<RunResult> = this.#ask(prompt, config, systemPrompt).finally(() => this.#running.delete(running))
    this.#running.add(running)
    // Prevent an unhandled rejection if the strategy does not await the call.
    running.catch(() => undefined)
    return running
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the evaluation has ended'))
    this.#stop.release()
    await Promise.allSettled(this.#running)
  }

  async #ask(prompt: string, config: LoopConfig, systemPrompt: string): Promise<RunResult> {
    const { agentId, sessionId } = this.#base
    const loopId = nextLoopId(this.#base, sessionId, config)
    const context = { systemPrompt, messages: [], tools: [], agentId, sessionId, loopId, ...parentOf(this.#base) }
    const budget = this.#budget
    const { watches } = this.#events
    const watched = watches === undefined ? config : { ...config, observers: watches.inner() }
    const result = await agentLoop(prompt, context, watched, {
      emit: this.#events.pass,
      signal: this.signal,
      ...(budget !== undefined && { budget }),
    })
    this.usage = combineUsage(this.usage, result.totalUsage)
    return result
  }
}
