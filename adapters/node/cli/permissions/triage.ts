import { errorText } from '../../../../src/contract/errors.ts'
import type { AgentRun } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import type { EditedFiles } from '../changes/edited-files.ts'
import type { ProposedChange } from '../changes/proposed-change.ts'
import type { Permissions } from './permissions.ts'

/** Longer input cannot be reviewed by a user. */
const longestShown = 20_000

/** Maximum milliseconds to read a file. */
const longestLookMs = 30_000

/** What to do with a call: run it, deny it with a reason for the model, or prompt the user. Contains the file change, if any. */
export type Triage =
  | { kind: 'run'; change?: ProposedChange }
  | { kind: 'refuse'; reason: string; length: number }
  | { kind: 'ask'; change?: ProposedChange }

/** Decides a call that needs an approval. Returns `undefined` if the call is no longer pending. Denies calls that cannot be displayed. */
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
  // The call has no effect, and the model gets the reason.
  if (proposal?.fault !== undefined) return { kind: 'run' }
  const change = proposal?.change
  const { length } = change === undefined ? shownCall(event) : ''
  if (length > longestShown) {
    const reason = `The call has ${length} characters, too many for the user to review. Shorten it, for example by writing a file first.`
    return { kind: 'refuse', reason, length }
  }
  return { kind: permissions.allows(event) ? 'run' : 'ask', ...(change !== undefined && { change }) }
}

/** Returns whether a call is still pending. A stopped run has no pending calls. */
export function isWaiting(run: AgentRun, { toolCallId }: Pick<ApprovalRequestedEvent, 'toolCallId'>): boolean {
  return run.pendingApprovals().some((pending) => pending.toolCallId === toolCallId)
}

/** Returns a `bash` call's command, or the arguments of any other call. */
export function shownCall({ args }: Pick<ApprovalRequestedEvent, 'args'>): string {
  const { command, ...others } = args
  return typeof command === 'string' && Object.keys(others).length === 0 ? command : JSON.stringify(args, undefined, 2)
}
