import { emptyUsage } from 'phi-core/context'
import type { EvaluationStrategy } from 'phi-core/loop'

/** The first branch that answers with JSON wins; the others are stopped at once. */
export const firstJson: EvaluationStrategy = {
  name: 'firstJson',
  settled: ({ index, result }) => (result.status === 'completed' && result.text.startsWith('{') ? index : undefined),
  evaluate: () => ({ selectedIndex: 0, usage: emptyUsage() }), // none did
}
