import type { AgentRun } from '../../../../src/index.ts'

/** Reason for the denial, sent to the model. */
const noApprover = 'it needs approval, which this client cannot request'
const noPage = 'No client is available to run this tool.'

/** Capabilities of a client whose protocol does not support all requests. */
export interface Unattended {
  /** Whether the client can approve calls. */
  canApprove: boolean
}

/**
 * Resolves requests that the client's protocol does not support. Denies the agent's calls that need approval, unless `canApprove`. Cancels
 * user input requests and sub-agents' client calls. The client's own calls stay pending.
 */
export function answerUnattended(run: AgentRun, { canApprove }: Unattended): void {
  for (const request of run.pendingInputs()) run.answer(request, { action: 'cancel' })
  if (!canApprove) for (const request of run.pendingApprovals()) run.deny(request, noApprover)
  run.subscribe((event) => {
    if (event.type === 'inputRequested') run.answer(event, { action: 'cancel' })
    else if (event.type === 'approvalRequested' && !canApprove) run.deny(event, noApprover)
    else if (event.type === 'clientCallRequested' && event.subAgent !== undefined) {
      // The request may have been withdrawn in the meantime.
      void run.answerCall(event, { error: noPage }).catch(() => undefined)
    }
  })
}
