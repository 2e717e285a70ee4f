import type { Agent } from 'phi-core'
import { createBudget } from 'phi-core/loop'

/** Runs two prompts with a shared budget of half a dollar. Returns their cost in USD. */
export async function costOfBoth(agent: Agent, first: string, second: string): Promise<number> {
  const budget = createBudget({ maxCost: 0.5 })
  await agent.prompt(first, { budget }).result
  await agent.prompt(second, { budget }).result // ends with status `limit` if the first run used the whole budget
  return budget.used().costUsd
}
