import { ConfigError } from '../../contract/errors.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { RunResult } from '../../types/run/run.ts'
import type { AgentContext, LoopConfig } from '../loop-config.ts'

/**
 * Passes one branch through: the events and result of a parallel loop for a single configuration. Source: docs/concepts/several-agents.md
 */
export const transparent: EvaluationStrategy = {
  name: 'transparent',
  check: (branchCount) => {
    if (branchCount === 1) return
    throw new ConfigError('branchCount', `The strategy "transparent" takes one configuration, not ${branchCount}. Choose another strategy.`)
  },
  evaluate: () => chosen(0),
}

/** Selects the first branch, whatever its outcome. The others are aborted when it ends. Source: docs/concepts/several-agents.md */
export const pickFirst: EvaluationStrategy = {
  name: 'pickFirst',
  settled: (outcome) => (outcome.index === 0 ? 0 : undefined),
  evaluate: () => chosen(0),
}

/**
 * Selects the branch with the fewest tokens; the earlier one if equal. Branches that did not complete win only if none did. Source:
 * docs/concepts/several-agents.md#parallel-models
 */
export const tokenEfficient: EvaluationStrategy = {
  name: 'tokenEfficient',
  evaluate: ({ outcomes }) => chosen(smallest(candidates(outcomes), (outcome) => outcome.result.usage.totalTokens)),
}

/** Selects the branch with the most tokens; otherwise like {@link tokenEfficient}. Source: docs/concepts/several-agents.md */
export const elaborate: EvaluationStrategy = {
  name: 'elaborate',
  evaluate: ({ outcomes }) => chosen(smallest(candidates(outcomes), (outcome) => -outcome.result.usage.totalTokens)),
}

function chosen(selectedIndex: number): Evaluation {
  return { selectedIndex, usage: emptyUsage() }
}

/** Returns the index of the first branch with the smallest measure. */
function smallest(outcomes: readonly ParallelOutcome[], measure: (outcome: ParallelOutcome) => number): number {
  let best: { index: number; size: number } | undefined
  for (const outcome of outcomes) {
    const size = measure(outcome)
    if (best === undefined || size < best.size) best = { index: outcome.index, size }
  }
  return best?.index ?? 0
}

/** Outcome of one branch. Source: docs/concepts/several-agents.md */
export interface ParallelOutcome {
  /** Index of its configuration. */
  index: number
  loopId: string
  /** Final context of this branch. */
  context: AgentContext
  /** Number of messages in `context` that all branches share: the initial history, without the prompt. */
  originalContextLength: number
  result: RunResult
}

/** Input of a strategy. */
export interface EvaluationInput {
  /** Prompt of every branch; empty if they continued the history. */
  prompt: readonly AgentMessage[]
  /** Outcome of every branch, in the order of the configurations. */
  outcomes: readonly ParallelOutcome[]
  /** Aborts when the caller stops everything; owned by `parallelLoop`. */
  signal: AbortSignal
  /**
   * Calls a model: a loop without history or tools in the same session, with its own id. Its events are emitted like those of the branches,
   * and it is charged to the same budget. Rejects with `ConfigError` as `agentLoop` does.
   */
  ask(prompt: string, config: LoopConfig, systemPrompt: string): Promise<RunResult>
  /** Emits a line of status text. */
  progress(line: { toolCallId: string; toolName: string; text: string }): void
}

/** The selected branch, and the usage of the evaluation, including every `ask`. */
export interface Evaluation {
  selectedIndex: number
  usage: Usage
  /** Reason in words, emitted in `parallelLoopEnd` and stored in the session. */
  reason?: string
}

/**
 * Selects one of several branches. Any plain object works.
 *
 * **Contract**
 * - `check` throws if it does not support the number of branches, before any starts.
 * - `settled` is called as each branch ends, with all ended ones in that order, including this one. A returned index selects a branch: all
 *   others are aborted, and neither `settled` nor `evaluate` is called again. Synchronous and fast.
 * - `evaluate` is called once after all branches, unless one is selected or the caller stopped everything.
 * - If a strategy throws, rejects, selects no branch or returns an invalid usage, `evaluationFailed` is logged. The first completed branch
 *   is then selected, or the first.
 * - Usage of `ask` counts whatever the strategy reports.
 *
 * Source: docs/concepts/several-agents.md
 */
export interface EvaluationStrategy {
  readonly name: string
  check?(branchCount: number): void
  settled?(outcome: ParallelOutcome, settledSoFar: readonly ParallelOutcome[], branchCount: number): number | undefined
  evaluate(input: EvaluationInput): Promise<Evaluation> | Evaluation
}

/** Returns the branches that may win: those that completed, or all if none did. */
export function candidates(outcomes: readonly ParallelOutcome[]): readonly ParallelOutcome[] {
  const completed = outcomes.filter((outcome) => outcome.result.status === 'completed')
  return completed.length > 0 ? completed : outcomes
}
