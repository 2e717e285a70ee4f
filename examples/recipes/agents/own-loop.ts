import { type AgentEvent, type Model, userMessage } from 'phi-core'
import { type AgentContext, agentLoop, continueLoop } from 'phi-core/loop'

/** Runs the loop without an `Agent`: you manage the context and storage, and receive events in a callback. */
export async function twoLoops(model: Model, emit: (event: AgentEvent) => void): Promise<AgentContext> {
  const context: AgentContext = { systemPrompt: 'Be brief.', messages: [], tools: [] }
  const { signal } = new AbortController()
  await agentLoop('Hello.', context, { model }, { emit, signal })
  context.messages.push({ ...userMessage('And again.'), id: crypto.randomUUID() })
  await continueLoop(context, { model }, { emit, signal })
  return context // now includes agentId, sessionId and lastLoopId
}
