import type { Agent } from 'phi-core'
import { createBudget } from 'phi-core/loop'

/** Two prompts that may cost half a dollar together; what they have cost, in USD. */
export async function costOfBoth(agent: Agent, first: string, second: string): Promise<number> {
  const budget = createBudget({ maxCost: 0.5 })
  await agent.prompt(first, { budget }).result
  await agent.prompt(second, { budget }).result // ends with status `limit` when the first has used it up
  return budget.used().costUsd
}
