import { Agent, type AgentTool, type Model } from 'phi-core'
import type { LoopHooks } from 'phi-core/loop'

/** Asks a person about every call outside of office hours, whatever the tools themselves say. */
export function askedAtNight(model: Model, tools: AgentTool[], isNight: () => boolean): Agent {
  const hooks: LoopHooks = {
    // False, for a person who said no, skips the call.
    beforeToolExecution: ({ requestApproval }) => !isNight() || requestApproval(),
  }
  return new Agent({ model, tools, hooks })
}
