import type { AgentRun } from '../../../../src/index.ts'

/** The reason of a denial, for the model. */
const noApprover = 'it needs the approval of a person, and nobody can be asked here'
const noPage = 'No page is there that could run it.'

/** Limits of a client whose protocol lacks some requests. */
export interface Unattended {
  /** Whether it can approve calls. */
  canApprove: boolean
}

/**
 * Resolves requests that the client's protocol cannot express: denies calls of the agent that need approval, unless `canApprove`;
 * cancels input requests of tools and client calls of sub-agents. Calls that the client runs stay pending.
 */
export function answerUnattended(run: AgentRun, { canApprove }: Unattended): void {
  for (const request of run.pendingInputs()) run.answer(request, { action: 'cancel' })
  if (!canApprove) for (const request of run.pendingApprovals()) run.deny(request, noApprover)
  run.subscribe((event) => {
    if (event.type === 'inputRequested') run.answer(event, { action: 'cancel' })
    else if (event.type === 'approvalRequested' && !canApprove) run.deny(event, noApprover)
    else if (event.type === 'clientCallRequested' && event.subAgent !== undefined) {
      // It may have been withdrawn by then.
      void run.answerCall(event, { error: noPage }).catch(() => undefined)
    }
  })
}
