import { Agent, type AgentMessage, type Model } from 'phi-core'
import { extensionMessage } from 'phi-core/context'

/** Keeps notes in the history that no model sees, and sends only the last 20 entries. The history itself is never changed by this. */
export function agentWithNotes(model: Model): Agent {
  const transformContext = (messages: readonly AgentMessage[]) => messages.slice(-20)
  const agent = new Agent({ model, transformContext })
  agent.appendMessage(extensionMessage('note', { text: 'for the application only' }))
  return agent
}
