import { Agent, type AgentTool, type Model } from 'phi-core'
import { cacheHitRate } from 'phi-core/context'

/** Caches system prompt and tools, but not the conversation. Use it for independent prompts. */
export function classifier(model: Model, tools: AgentTool[]): Agent {
  const cache = { type: 'manual', cacheSystem: true, cacheTools: true, cacheMessages: false } as const
  return new Agent({ model, tools, cache, systemPrompt: 'Long instructions that every request begins with …' })
}

// #region hit-rate
/** Returns the share of prompt tokens that a run read from a cache, for example `83 %`. */
export async function cachedShare(agent: Agent, prompt: string): Promise<string> {
  const { usage } = await agent.prompt(prompt).result
  return `${Math.round(cacheHitRate(usage) * 100)} %`
}
// #endregion hit-rate
