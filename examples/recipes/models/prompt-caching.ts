import { Agent, type AgentTool, type Model } from 'phi-core'
import { cacheHitRate } from 'phi-core/context'

/** Caches what stays the same, but not the conversation: for prompts that are asked once each. */
export function classifier(model: Model, tools: AgentTool[]): Agent {
  const cache = { type: 'manual', cacheSystem: true, cacheTools: true, cacheMessages: false } as const
  return new Agent({ model, tools, cache, systemPrompt: 'Long instructions that every request begins with …' })
}

// #region hit-rate
/** How much of a run's prompts came from a cache, for example `83 %`. */
export async function cachedShare(agent: Agent, prompt: string): Promise<string> {
  const { usage } = await agent.prompt(prompt).result
  return `${Math.round(cacheHitRate(usage) * 100)} %`
}
// #endregion hit-rate
