import { ConfigError } from '../../contract/errors.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import { candidates, type Evaluation, type EvaluationStrategy, type ParallelOutcome } from './evaluation-strategy.ts'

/** One branch, passed through: all that parallel loops report and return, for a single configuration. Source: docs/concepts/parallel-loops.md */
export const transparent: EvaluationStrategy = {
  name: 'transparent',
  check: (branchCount) => {
    if (branchCount === 1) return
    throw new ConfigError('branchCount', `The strategy "transparent" takes one configuration, not ${branchCount}. Choose another strategy.`)
  },
  evaluate: () => chosen(0),
}

/**
 * Always the first branch, whatever it came to. The others are aborted as soon as it has ended. Source: docs/concepts/parallel-loops.md
 */
export const pickFirst: EvaluationStrategy = {
  name: 'pickFirst',
  settled: (outcome) => (outcome.index === 0 ? 0 : undefined),
  evaluate: () => chosen(0),
}

/** The branch that used the fewest tokens; the earlier one of equals. A branch that did not complete wins only where none did. Source: docs/concepts/parallel-loops.md */
export const tokenEfficient: EvaluationStrategy = {
  name: 'tokenEfficient',
  evaluate: ({ outcomes }) => chosen(smallest(candidates(outcomes), (outcome) => outcome.result.usage.totalTokens)),
}

/** The branch that used the most tokens; otherwise as {@link tokenEfficient}. Source: docs/concepts/parallel-loops.md */
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
