import { Agent, type AgentTool, type Model } from 'phi-core'
import { costOver, type LoopHooks, turnCount } from 'phi-core/loop'

/** Plans with a strong model and works with a cheap one; nobody sees an answer that names a customer. */
export function careful({ strong, cheap, tools }: { strong: Model; cheap: Model; tools: AgentTool[] }): Agent {
  const hooks: LoopHooks = {
    // The first turn plans: it has no tools.
    prepareTurn: ({ turnIndex }) => (turnIndex === 0 ? { model: strong, activeTools: [], thinking: 'high' } : { temperature: 0 }),
    // A refused answer is asked for once more, with the reason.
    afterAnswer: ({ text }) => (text.includes('ACME') ? { allow: false, reason: 'it names a customer' } : true),
  }
  return new Agent({ model: cheap, tools, hooks, stopWhen: [turnCount(20), costOver(0.5)] })
}
