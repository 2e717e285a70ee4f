import type { ChatAgent } from '../../../../src/client.ts'
import type { AgentRun, PendingApproval } from '../../../../src/index.ts'
import type { ApprovalRef } from '../../../../src/loop.ts'

/** Decides a shown request: in its run, or in a new run after that has ended. */
export function decide(agent: ChatAgent, shown: PendingApproval, answer: (run: AgentRun, request: ApprovalRef) => void): void {
  const run = agent.currentRun
  if (run !== undefined) {
    // A second click finds nothing.
    if (run.pendingApprovals().some((pending) => isSame(pending, shown))) answer(run, shown)
    return
  }
  const resumed = agent.continueLoop()
  const stop = resumed.subscribe((event) => {
    if (event.type !== 'approvalRequested' || !isSame(event, shown)) return
    stop()
    answer(resumed, event)
  })
}

function isSame(a: PendingApproval, b: PendingApproval): boolean {
  return a.toolCallId === b.toolCallId && a.argumentsHash === b.argumentsHash && a.subAgent?.loopId === b.subAgent?.loopId
}
