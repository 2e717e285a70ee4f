import { useSignal } from '@preact/signals'
import type { PendingApproval } from '../../../src/index.ts'
import type { Decisions } from './decisions.ts'
import { EditArguments } from './edit-arguments.tsx'
import { Labelled } from './result-view.tsx'

interface ApprovalRequestProps {
  request: PendingApproval
  decisions: Decisions | undefined
  /** Whether the user may change the arguments. Default: true. */
  canEdit?: boolean
}

/** A call that requires approval. The user sees what it would do, and approves it, denies it, or approves it with other arguments. */
export function ApprovalRequestCard({ request, decisions, canEdit = true }: ApprovalRequestProps) {
  const { toolName, subAgent, args } = request
  const isEditing = useSignal(false)
  return (
    <div class="approval">
      {subAgent !== undefined && (
        <Labelled name={`${subAgent.toolName} wants to call ${toolName}`} text={JSON.stringify(args, undefined, 2)} />
      )}
      {decisions !== undefined && isEditing.value && (
        <EditArguments
          request={request}
          schema={decisions.parametersOf(request)}
          onApprove={(form, edited) => {
            focusCall(form)
            decisions.approve(request, edited)
          }}
          onCancel={() => {
            isEditing.value = false
          }}
        />
      )}
      {decisions !== undefined && !isEditing.value && (
        <div class="tool-actions">
          <button type="button" class="primary" onClick={(event) => answer(event, () => decisions.approve(request))}>
            Approve
          </button>
          <button type="button" onClick={(event) => answer(event, () => decisions.deny(request))}>
            Deny
          </button>
          {canEdit && (
            <button
              type="button"
              onClick={() => {
                isEditing.value = true
              }}
            >
              Edit…
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** The buttons disappear with the decision, so the focus moves to the call. */
function answer({ currentTarget }: { currentTarget: HTMLElement }, act: () => void): void {
  focusCall(currentTarget)
  act()
}

function focusCall(element: HTMLElement): void {
  element.closest('details')?.querySelector('summary')?.focus()
}
