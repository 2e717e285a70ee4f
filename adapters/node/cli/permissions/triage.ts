import { errorText } from '../../../../src/contract/errors.ts'
import type { AgentRun } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import type { EditedFiles } from '../changes/edited-files.ts'
import type { ProposedChange } from '../changes/proposed-change.ts'
import type { Permissions } from './permissions.ts'

/** What is longer than this no person reads before saying yes. */
const longestShown = 20_000

/** How long looking at a file may take, in ms. */
const longestLookMs = 30_000

/** What becomes of a call that asks: it runs, it is refused with what the model is told, or a person is asked. With the change that it would make, if it makes one. */
export type Triage =
  | { kind: 'run'; change?: ProposedChange }
  | { kind: 'refuse'; reason: string; length: number }
  | { kind: 'ask'; change?: ProposedChange }

/** What is to be done about a call that asks; `undefined` where nobody waits for it any more. What cannot be shown is refused. */
export async function triage(
  run: AgentRun,
  event: ApprovalRequestedEvent,
  { permissions, files }: { permissions: Permissions; files: EditedFiles },
): Promise<Triage | undefined> {
  const proposal = await files.propose(event, AbortSignal.timeout(longestLookMs)).catch((error: unknown) => ({ failure: error }))
  if (!isWaiting(run, event)) return undefined
  if (proposal !== undefined && 'failure' in proposal) {
    const { failure } = proposal
    return {
      kind: 'refuse',
      reason: `Denied, because the effect of the call cannot be shown: ${errorText(failure)}`,
      length: 0,
    }
  }
  // It can do nothing, and the model is told why.
  if (proposal?.fault !== undefined) return { kind: 'run' }
  const change = proposal?.change
  const { length } = change === undefined ? shownCall(event) : ''
  if (length > longestShown) {
    const reason = `The call has ${length} characters, too many for the user to review. Make it shorter, for example by writing a file first.`
    return { kind: 'refuse', reason, length }
  }
  return { kind: permissions.allows(event) ? 'run' : 'ask', ...(change !== undefined && { change }) }
}

/** Whether a call still waits for an answer: a run that was stopped asks for nothing any more. */
export function isWaiting(run: AgentRun, { toolCallId }: Pick<ApprovalRequestedEvent, 'toolCallId'>): boolean {
  return run.pendingApprovals().some((pending) => pending.toolCallId === toolCallId)
}

/** The command as it is; of other calls the arguments. */
export function shownCall({ args }: Pick<ApprovalRequestedEvent, 'args'>): string {
  const { command, ...others } = args
  return typeof command === 'string' && Object.keys(others).length === 0 ? command : JSON.stringify(args, undefined, 2)
}
