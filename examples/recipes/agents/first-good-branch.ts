import { emptyUsage } from 'phi-core/context'
import type { EvaluationStrategy } from 'phi-core/loop'

/** Chooses the first branch that returns JSON, and stops the others immediately. */
export const firstJson: EvaluationStrategy = {
  name: 'firstJson',
  settled: ({ index, result }) => (result.status === 'completed' && result.text.startsWith('{') ? index : undefined),
  evaluate: () => ({ selectedIndex: 0, usage: emptyUsage() }), // no branch returned JSON
}
