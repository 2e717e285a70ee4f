import { ConfigError } from '../../contract/errors.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { RunResult } from '../../types/run/run.ts'
import type { AgentContext, LoopConfig } from '../loop-config.ts'

/** One branch, passed through: all that parallel loops report and return, for a single configuration. Source: docs/concepts/several-agents.md */
export const transparent: EvaluationStrategy = {
  name: 'transparent',
  check: (branchCount) => {
    if (branchCount === 1) return
    throw new ConfigError('branchCount', `The strategy "transparent" takes one configuration, not ${branchCount}. Choose another strategy.`)
  },
  evaluate: () => chosen(0),
}

/**
 * Always the first branch, whatever it came to. The others are aborted as soon as it has ended. Source: docs/concepts/several-agents.md
 */
export const pickFirst: EvaluationStrategy = {
  name: 'pickFirst',
  settled: (outcome) => (outcome.index === 0 ? 0 : undefined),
  evaluate: () => chosen(0),
}

/**
 * The branch that used the fewest tokens; the earlier one of equals. A branch that did not complete wins only where none did. Source:
 * docs/concepts/several-agents.md#parallel-models
 */
export const tokenEfficient: EvaluationStrategy = {
  name: 'tokenEfficient',
  evaluate: ({ outcomes }) => chosen(smallest(candidates(outcomes), (outcome) => outcome.result.usage.totalTokens)),
}

/** The branch that used the most tokens; otherwise as {@link tokenEfficient}. Source: docs/concepts/several-agents.md */
export const elaborate: EvaluationStrategy = {
  name: 'elaborate',
  evaluate: ({ outcomes }) => chosen(smallest(candidates(outcomes), (outcome) => -outcome.result.usage.totalTokens)),
}

function chosen(selectedIndex: number): Evaluation {
  return { selectedIndex, usage: emptyUsage() }
}

/** Index of the first branch with the smallest measure. */
function smallest(outcomes: readonly ParallelOutcome[], measure: (outcome: ParallelOutcome) => number): number {
  let best: { index: number; size: number } | undefined
  for (const outcome of outcomes) {
    const size = measure(outcome)
    if (best === undefined || size < best.size) best = { index: outcome.index, size }
  }
  return best?.index ?? 0
}

/** What became of one branch. Source: docs/concepts/several-agents.md */
export interface ParallelOutcome {
  /** Position of its configuration. */
  index: number
  loopId: string
  /** The conversation as this branch left it. */
  context: AgentContext
  /** How many messages of `context` all branches share: the history they began with, without the prompt. */
  originalContextLength: number
  result: RunResult
}

/** What a strategy has to decide with. */
export interface EvaluationInput {
  /** What every branch was asked; empty when they continued the history. */
  prompt: readonly AgentMessage[]
  /** Of every branch, in the order of the configurations. */
  outcomes: readonly ParallelOutcome[]
  /** Aborts when the caller stops everything; owned by `parallelLoop`. */
  signal: AbortSignal
  /**
   * Asks a model: a loop without history or tools in the same session, with an id of its own. Events of that model call are reported like those of the
   * branches, and it is charged to the same budget. Rejects with `ConfigError` as `agentLoop` does.
   */
  ask(prompt: string, config: LoopConfig, systemPrompt: string): Promise<RunResult>
  /** Reports a line of status text. */
  progress(line: { toolCallId: string; toolName: string; text: string }): void
}

/** Which branch was chosen, and what it cost to choose: the usage of every `ask` included. */
export interface Evaluation {
  selectedIndex: number
  usage: Usage
  /** Why, in words; a judge's own. It goes into `parallelLoopEnd` and the session. */
  reason?: string
}

/**
 * Chooses one of several branches. Any plain object will do.
 *
 * **Contract**
 * - `check` throws for a number of branches that cannot work, before anything begins.
 * - `settled` is called as each branch ends, with all that have ended so far in that order, this one included. An index it returns is the
 *   choice: every other branch is aborted, and neither `settled` nor `evaluate` is called again. Synchronous and quick.
 * - `evaluate` is called once when all branches have ended, unless the choice was made or the caller stopped everything.
 * - A strategy that throws, rejects, names no branch or reports a usage that is none is logged as `evaluationFailed`; then the first branch that completed
 *   is chosen, else the first.
 * - What `ask` used counts whatever the strategy reports.
 *
 * Source: docs/concepts/several-agents.md
 */
export interface EvaluationStrategy {
  readonly name: string
  check?(branchCount: number): void
  settled?(outcome: ParallelOutcome, settledSoFar: readonly ParallelOutcome[], branchCount: number): number | undefined
  evaluate(input: EvaluationInput): Promise<Evaluation> | Evaluation
}

/** The branches that may win: those that completed, or all where none did. */
export function candidates(outcomes: readonly ParallelOutcome[]): readonly ParallelOutcome[] {
  const completed = outcomes.filter((outcome) => outcome.result.status === 'completed')
  return completed.length > 0 ? completed : outcomes
}
