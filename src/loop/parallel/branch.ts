import { AbortScope } from '../../base/abort.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { agentLoop, continueLoop } from '../agent-loop.ts'
import type { AgentContext, LoopConfig, LoopOptions } from '../loop-config.ts'
import { nextLoopId } from '../loop-id.ts'
import type { ParallelOutcome } from './strategies.ts'

/** A context with all ids set. */
export type IdentifiedContext = AgentContext & { agentId: string; sessionId: string }

/** One of several loops that continue a conversation from the same point, with a separate message list and abort signal. */
export class Branch {
  readonly index: number
  readonly loopId: string
  readonly #context: AgentContext
  readonly #config: LoopConfig
  readonly #stop: AbortScope
  readonly #originalContextLength: number

  /** Copies `base` and counts the new loop in its `loopCounts`. Observes `signal` until `release`. */
  constructor(index: number, base: IdentifiedContext, config: LoopConfig, signal: AbortSignal) {
    this.index = index
    this.loopId = nextLoopId(base, base.sessionId, config)
    this.#config = config
    this.#context = { ...base, messages: [...base.messages], loopId: this.loopId, ...parentOf(base) }
    this.#originalContextLength = base.messages.length
    this.#stop = new AbortScope(signal)
  }

  /** Runs the branch with `prompt`, or continues the history if `prompt` is empty. */
  async run(prompt: readonly AgentMessage[], options: Omit<LoopOptions, 'signal'>): Promise<ParallelOutcome> {
    const context = this.#context
    const loopOptions = { ...options, signal: this.#stop.signal }
    const result =
      prompt.length > 0
        ? await agentLoop(prompt, context, this.#config, loopOptions)
        : await continueLoop(context, this.#config, loopOptions)
    // Later continuations descend from this branch's loop, not from the loop from which the branch started.
    context.parentLoopId = this.loopId
    return { index: this.index, loopId: this.loopId, context, originalContextLength: this.#originalContextLength, result }
  }

  abort(reason: unknown): void {
    this.#stop.abort(reason)
  }

  /** Stops the branch if it is running, and stops observing the caller's signal. */
  release(): void {
    this.#stop.abort(new Error('the parallel loop has ended'))
    this.#stop.release()
  }
}

/** Returns the parent of a loop that starts at `base`. */
export function parentOf(base: AgentContext): { parentLoopId?: string } {
  const parentLoopId = base.lastLoopId ?? base.parentLoopId
  return parentLoopId === undefined ? {} : { parentLoopId }
}
