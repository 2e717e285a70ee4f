import { type AgentTool, defineTool, type Model } from 'phi-core'
import { type AgentContext, agentLoop } from 'phi-core/loop'

/** A tool that runs a loop with the guards of the calling run. */
export function proofreader(model: Model): AgentTool {
  const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  return defineTool<{ text: string }>({
    name: 'proofread',
    description: 'Corrects a text.',
    parameters,
    execute: async ({ text }, ctx) => {
      const context: AgentContext = { systemPrompt: 'Correct the text.', messages: [], tools: [], parentLoopId: ctx.loopId }
      const config = { ...ctx.guards?.config, model }
      const { signal, budget, childEvent: emit, guards } = ctx
      return (await agentLoop(text, context, config, { emit, signal, budget, ...guards?.options })).text
    },
  })
}
