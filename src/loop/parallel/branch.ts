import { AbortScope } from '../../base/abort.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { agentLoop, continueLoop } from '../agent-loop.ts'
import type { AgentContext, LoopConfig, LoopOptions } from '../loop-config.ts'
import { nextLoopId } from '../loop-id.ts'
import type { ParallelOutcome } from './strategies.ts'

/** A conversation whose identity is settled. */
export type IdentifiedContext = AgentContext & { agentId: string; sessionId: string }

/** One of several loops that begin at the same point of a conversation, each with its own list of messages and its own abort. */
export class Branch {
  readonly index: number
  readonly loopId: string
  readonly #context: AgentContext
  readonly #config: LoopConfig
  readonly #stop: AbortScope
  readonly #originalContextLength: number

  /** Copies `base` and counts the new loop there. `signal` is followed until `release`. */
  constructor(index: number, base: IdentifiedContext, config: LoopConfig, signal: AbortSignal) {
    this.index = index
    this.loopId = nextLoopId(base, base.sessionId, config)
    this.#config = config
    this.#context = { ...base, messages: [...base.messages], loopId: this.loopId, ...parentOf(base) }
    this.#originalContextLength = base.messages.length
    this.#stop = new AbortScope(signal)
  }

  /** Runs to the end: with `prompt`, or on from the history when that is empty. */
  async run(prompt: readonly AgentMessage[], options: Omit<LoopOptions, 'signal'>): Promise<ParallelOutcome> {
    const context = this.#context
    const loopOptions = { ...options, signal: this.#stop.signal }
    const result =
      prompt.length > 0
        ? await agentLoop(prompt, context, this.#config, loopOptions)
        : await continueLoop(context, this.#config, loopOptions)
    // What goes on from here descends from this branch, not from where it began.
    context.parentLoopId = this.loopId
    return { index: this.index, loopId: this.loopId, context, originalContextLength: this.#originalContextLength, result }
  }

  abort(reason: unknown): void {
    this.#stop.abort(reason)
  }

  /** Stops the branch, should it still run, and lets go of the caller's signal. */
  release(): void {
    this.#stop.abort(new Error('the parallel loop has ended'))
    this.#stop.release()
  }
}

/** The loop that one which begins at `base` descends from. */
export function parentOf(base: AgentContext): { parentLoopId?: string } {
  const parentLoopId = base.lastLoopId ?? base.parentLoopId
  return parentLoopId === undefined ? {} : { parentLoopId }
}
