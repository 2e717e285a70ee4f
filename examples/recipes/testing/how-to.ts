import { Agent, ConfigError, fileContent, type Model, resumeAgent, type SessionStore } from 'phi-core'

// #region titles
/** Names a chat after its first exchange. A small model is enough. */
export async function nameChat(agent: Agent, small: Model): Promise<string> {
  const namer = new Agent({ model: small, systemPrompt: 'Name this conversation in at most five words.', messages: agent.messages })
  const title = (await namer.prompt('The name:').text()).trim().slice(0, 100)
  await agent.rename(title)
  return title
}
// #endregion titles

// #region again
/** Regenerates the last response. A session keeps the old response in its tree. */
export const again = (agent: Agent): Promise<string> => agent.regenerate().text()

/** Edits a user message and runs again from there. */
export const changed = (agent: Agent, messageId: string, text: string): Promise<string> => agent.editAndResend(messageId, text).text()
// #endregion again

// #region uploads
/** Asks about a file that the user chose. */
export async function askAbout(agent: Agent, file: File, question: string): Promise<string> {
  const content = [await fileContent(file, { name: file.name }), { type: 'text' as const, text: question }]
  return agent.prompt({ role: 'user', content }).text()
}
// #endregion uploads

// #region approvals
/** Lists pending approvals after a reload, and resumes the run once they are decided. */
export async function afterReload(
  store: SessionStore,
  sessionId: string,
  model: Model,
  decide: (tool: string) => boolean,
): Promise<string> {
  const agent = await resumeAgent(store, sessionId, { model })
  const run = agent.continueLoop()
  for await (const event of run) {
    if (event.type !== 'approvalRequested') continue
    if (decide(event.toolName)) run.approve(event)
    else run.deny(event, 'Not this time.')
  }
  return run.text()
}
// #endregion approvals

// #region cost
/** Makes no further model call once the limit is spent; the last call can exceed it. The model needs prices, for example from the catalogue. */
export async function askFor(model: Model, question: string, dollars: number): Promise<string> {
  const run = new Agent({ model, limits: { maxCost: dollars } }).prompt(question)
  const { status, text, limit } = await run.result
  return status === 'limit' ? `Stopped: ${limit?.reason}` : text
}
// #endregion cost

// #region model
/** Switches the model for the next prompt. The history is kept. */
export function askWith(agent: Agent, models: Record<string, Model>, name: string, question: string) {
  const model = models[name]
  if (model === undefined) throw new ConfigError('invalidOption', `There is no model ${JSON.stringify(name)}.`)
  agent.configure({ model })
  return agent.send(question)
}
// #endregion model
