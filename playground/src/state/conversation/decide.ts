import type { ChatAgent } from '../../../../src/client.ts'
import type { AgentRun, PendingApproval } from '../../../../src/index.ts'
import type { ApprovalRef } from '../../../../src/loop.ts'

/** Decides a shown request in its run, or in a new run if that run has ended. */
export async function decide(
  agent: ChatAgent,
  shown: PendingApproval,
  answer: (run: AgentRun, request: ApprovalRef) => void | Promise<void>,
): Promise<void> {
  const run = agent.currentRun
  if (run !== undefined) {
    // A second click finds nothing.
    if (run.pendingApprovals().some((pending) => isSame(pending, shown))) await answer(run, shown)
    return
  }
  const resumed = agent.continueLoop()
  await new Promise<void>((resolve, reject) => {
    const stop = resumed.subscribe((event) => {
      if (event.type === 'agentEnd') resolve()
      if (event.type !== 'approvalRequested' || !isSame(event, shown)) return
      stop()
      // An async function, so that errors become rejections.
      const answered = async () => answer(resumed, event)
      answered().then(resolve, reject)
    })
  })
}

function isSame(a: PendingApproval, b: PendingApproval): boolean {
  return a.toolCallId === b.toolCallId && a.argumentsHash === b.argumentsHash && a.subAgent?.loopId === b.subAgent?.loopId
}
