import { Agent, type AgentTool, type Model, type PendingApproval } from 'phi-core'
import { parseMessages, serializeMessages } from 'phi-core/session'

// #region pause
/** Waits briefly for a decision, then ends as `paused` and returns the history to store until the user decides. */
export async function runUntilPaused(
  model: Model,
  tools: AgentTool[],
  prompt: string,
): Promise<{ history: string; pending: PendingApproval[] }> {
  const agent = new Agent({ model, tools, approvalTimeoutMs: 1 })
  const { pendingApprovals = [] } = await agent.prompt(prompt).result
  return { history: serializeMessages(agent.messages), pending: pendingApprovals }
}
// #endregion pause

// #region continue
/** Requests the pending approvals again and approves them, later or in another process. */
export async function continueApproved(model: Model, tools: AgentTool[], history: string): Promise<string> {
  const agent = new Agent({ model, tools, messages: parseMessages(history) })
  const run = agent.continueLoop()
  for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
  return run.text()
}
// #endregion continue
