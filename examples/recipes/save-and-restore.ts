import { Agent, type Model, type SessionStore } from 'phi-core'

// #region store
/** Answers within a stored conversation, and stores it again. `store` may be `memorySessionStore()` or your own. */
export async function answerInSession(store: SessionStore, sessionId: string, model: Model, prompt: string): Promise<string> {
  const stored = await store.load(sessionId)
  const agent = new Agent({ model, sessionId, ...stored })
  const text = await agent.prompt(prompt).text()
  await store.save({ sessionId, agentId: agent.agentId, messages: [...agent.messages] })
  return text
}
// #endregion store

// #region json
/** The history as text, for a file or a column; and back, in another process. */
export function clone(agent: Agent): Agent {
  const json = agent.saveMessages()
  const other = new Agent({ model: agent.model })
  other.restoreMessages(json)
  return other
}
// #endregion json
