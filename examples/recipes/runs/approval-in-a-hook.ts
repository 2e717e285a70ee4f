import { Agent, type AgentTool, type Model } from 'phi-core'
import type { LoopHooks } from 'phi-core/loop'

/** Requests approval for every call outside office hours, including tools without `needsApproval`. */
export function askedAtNight(model: Model, tools: AgentTool[], isNight: () => boolean): Agent {
  const hooks: LoopHooks = {
    // `false`, after a denial, skips the call.
    beforeToolExecution: ({ requestApproval }) => !isNight() || requestApproval(),
  }
  return new Agent({ model, tools, hooks })
}
