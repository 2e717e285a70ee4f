import { type AgentEvent, type Model, userMessage } from 'phi-core'
import { type AgentContext, agentLoop, continueLoop } from 'phi-core/loop'

/** The loop without an `Agent`: the context is yours, events come as a callback, and nothing is kept but what you keep. */
export async function twoLoops(model: Model, emit: (event: AgentEvent) => void): Promise<AgentContext> {
  const context: AgentContext = { systemPrompt: 'Be brief.', messages: [], tools: [] }
  const { signal } = new AbortController()
  await agentLoop('Hello.', context, { model }, { emit, signal })
  context.messages.push({ ...userMessage('And again.'), id: crypto.randomUUID() })
  await continueLoop(context, { model }, { emit, signal })
  return context // with agentId, sessionId and lastLoopId written back
}
