import type { PendingApproval } from '../../../src/index.ts'
import type { Decisions } from './decisions.ts'
import { Labelled } from './result-view.tsx'

/** A call that waits for a person: what it would do, and yes or no. */
export function ApprovalRequestCard({ request, decisions }: { request: PendingApproval; decisions: Decisions | undefined }) {
  const { toolName, subAgent, args } = request
  return (
    <div class="approval">
      {subAgent !== undefined && (
        <Labelled name={`${subAgent.toolName} wants to call ${toolName}`} text={JSON.stringify(args, undefined, 2)} />
      )}
      {decisions !== undefined && (
        <div class="tool-actions">
          <button type="button" class="primary" onClick={(event) => answer(event, () => decisions.approve(request))}>
            Approve
          </button>
          <button type="button" onClick={(event) => answer(event, () => decisions.deny(request))}>
            Deny
          </button>
        </div>
      )}
    </div>
  )
}

/** The buttons disappear with the decision: the focus stays at the call. */
function answer({ currentTarget }: { currentTarget: HTMLElement }, act: () => void): void {
  currentTarget.closest('details')?.querySelector('summary')?.focus()
  act()
}
