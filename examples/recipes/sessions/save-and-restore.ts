import { Agent, type Model, resumeAgent, type SessionStore } from 'phi-core'
import { parseMessages, serializeMessages } from 'phi-core/session'

// #region store
/** Responds in a stored conversation. The first prompt creates it, and each message is durable before the run continues. */
export async function answerInSession(store: SessionStore, sessionId: string, model: Model, prompt: string): Promise<string> {
  const agent = await resumeAgent(store, sessionId, { model, create: true })
  const text = await agent.send(prompt).text()
  await agent.close()
  return text
}
// #endregion store

// #region json
/** Converts the history to text, and creates another agent from that text. */
export function clone(agent: Agent): Agent {
  const json = serializeMessages(agent.messages)
  return new Agent({ model: agent.settings.model, messages: parseMessages(json) })
}
// #endregion json
