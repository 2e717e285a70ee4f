import { Agent, type AgentMessage, type Model } from 'phi-core'
import { extensionMessage } from 'phi-core/context'

/** Stores notes in the history that are not sent to a model, and sends only the last 20 entries. The history itself stays unchanged. */
export function agentWithNotes(model: Model): Agent {
  const transformContext = (messages: readonly AgentMessage[]) => messages.slice(-20)
  const agent = new Agent({ model, transformContext })
  agent.appendMessage(extensionMessage('note', { text: 'for the application only' }))
  return agent
}
