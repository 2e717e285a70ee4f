import type { AgentRun } from '../../../../src/index.ts'

/** Why a call of the agent's own was not run. The model is told. */
const nobodyToAsk = 'it needs the approval of a person, and nobody can be asked here'
const noPage = 'No page is there that could run it.'

/** What a client cannot be asked that has no words for it. */
export interface Unattended {
  /** Whether it can approve calls. */
  canApprove: boolean
}

/**
 * Answers for a client what it has no words for: calls of the agent's own that need approval are denied, unless `canApprove`; questions of tools are cancelled, and
 * pages of sub-agents are not there. Calls that the client is to run wait.
 */
export function answerUnattended(run: AgentRun, { canApprove }: Unattended): void {
  for (const request of run.pendingInputs()) run.answer(request, { action: 'cancel' })
  if (!canApprove) for (const request of run.pendingApprovals()) run.deny(request, nobodyToAsk)
  run.subscribe((event) => {
    if (event.type === 'inputRequested') run.answer(event, { action: 'cancel' })
    else if (event.type === 'approvalRequested' && !canApprove) run.deny(event, nobodyToAsk)
    else if (event.type === 'clientCallRequested' && event.subAgent !== undefined) {
      // It may have been withdrawn by then.
      void run.answerCall(event, { error: noPage }).catch(() => undefined)
    }
  })
}
