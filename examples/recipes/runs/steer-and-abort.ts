import { Agent, type AgentTool, type Model, type ReceiptStatus, type RunStatus } from 'phi-core'

// #region steer
/** Steers the agent during a run: the model receives the message with the results of the running tools. */
export async function steerWhileToolsRun(model: Model, tools: AgentTool[]): Promise<ReceiptStatus> {
  const run = new Agent({ model, tools }).prompt('Look at all the logs.')
  for await (const event of run) {
    if (event.type !== 'toolExecutionStart') continue
    const receipt = run.steer('Only those of today, please.')
    return receipt.settled // 'delivered', or 'returned' when the run ends first
  }
  return 'returned'
}
// #endregion steer

// #region abort
/** Stops a run after `timeoutMs`. The partial response stays in the history, and the next prompt can continue from it. */
export async function answerInTime(model: Model, prompt: string, timeoutMs: number): Promise<RunStatus> {
  const agent = new Agent({ model })
  const run = agent.prompt(prompt, { signal: AbortSignal.timeout(timeoutMs) })
  const { status } = await run.result // 'aborted' is a result, not an exception
  return status
}
// #endregion abort
