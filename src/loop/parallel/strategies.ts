import { ConfigError } from '../../contract/errors.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { RunResult } from '../../types/run/run.ts'
import type { AgentContext, LoopConfig } from '../loop-config.ts'

/** Runs a parallel loop with a single configuration and selects its branch. Source: docs/concepts/several-agents.md */
export const transparent: EvaluationStrategy = {
  name: 'transparent',
  check: (branchCount) => {
    if (branchCount === 1) return
    throw new ConfigError(
      'branchCount',
      `The "transparent" strategy accepts exactly one configuration, not ${branchCount}. Choose another strategy.`,
    )
  },
  evaluate: () => chosen(0),
}

/** Selects the first branch, regardless of its outcome. Aborts the other branches when it ends. Source: docs/concepts/several-agents.md */
export const pickFirst: EvaluationStrategy = {
  name: 'pickFirst',
  settled: (outcome) => (outcome.index === 0 ? 0 : undefined),
  evaluate: () => chosen(0),
}

/**
 * Selects the branch that used the fewest tokens, or the earlier branch on a tie. Considers incomplete branches only if none completed.
 * Source: docs/concepts/several-agents.md#parallel-models
 */
export const tokenEfficient: EvaluationStrategy = {
  name: 'tokenEfficient',
  evaluate: ({ outcomes }) => chosen(smallest(candidates(outcomes), (outcome) => outcome.result.usage.totalTokens)),
}

/** Selects the branch that used the most tokens. Otherwise works like {@link tokenEfficient}. Source: docs/concepts/several-agents.md */
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
  /** Index of the branch's configuration. */
  index: number
  loopId: string
  /** Final context of this branch. */
  context: AgentContext
  /** Number of initial history messages in `context`, which all branches share. Excludes the prompt. */
  originalContextLength: number
  result: RunResult
}

/** A strategy's input. */
export interface EvaluationInput {
  /** Prompt of every branch. Empty if they continued the history. */
  prompt: readonly AgentMessage[]
  /** Outcome of every branch, in the order of the configurations. */
  outcomes: readonly ParallelOutcome[]
  /** Aborts when the caller stops the parallel loop. Owned by `parallelLoop`. */
  signal: AbortSignal
  /**
   * Calls a model in a separate loop of the same session, without history or tools. Emits the loop's events like those of the branches, and
   * charges the same budget. Rejects with `ConfigError` as `agentLoop` does.
   */
  ask(prompt: string, config: LoopConfig, systemPrompt: string): Promise<RunResult>
  /** Emits a line of status text. */
  progress(line: { toolCallId: string; toolName: string; text: string }): void
}

/** The selected branch, and the usage of the evaluation, including every `ask`. */
export interface Evaluation {
  selectedIndex: number
  usage: Usage
  /** Reason as text, emitted in `parallelLoopEnd` and stored in the session. */
  reason?: string
}

/**
 * Selects one of several branches. Any plain object works.
 *
 * **Contract**
 * - `check` runs before any branch starts. It throws if the strategy does not support the number of branches.
 * - `settled` runs when a branch ends, with all branches that have ended so far, in that order. If it returns an index, the parallel loop
 *   selects that branch, aborts all others, and calls neither `settled` nor `evaluate` again. It must be synchronous and fast.
 * - `evaluate` runs once, after all branches have ended, unless a branch is already selected or the caller stopped the parallel loop.
 * - If a strategy throws, rejects, selects no branch or returns an invalid usage, the parallel loop logs `evaluationFailed`. It then
 *   selects the first completed branch, or the first branch if none completed.
 * - Always counts the usage of `ask`, even if the strategy does not report it.
 *
 * Source: docs/concepts/several-agents.md
 */
export interface EvaluationStrategy {
  readonly name: string
  check?(branchCount: number): void
  settled?(outcome: ParallelOutcome, settledSoFar: readonly ParallelOutcome[], branchCount: number): number | undefined
  evaluate(input: EvaluationInput): Promise<Evaluation> | Evaluation
}

/** Returns the completed branches, or all branches if none completed. */
export function candidates(outcomes: readonly ParallelOutcome[]): readonly ParallelOutcome[] {
  const completed = outcomes.filter((outcome) => outcome.result.status === 'completed')
  return completed.length > 0 ? completed : outcomes
}
