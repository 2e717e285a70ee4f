import { type AgentRun, ConfigError, type PendingApproval } from '../../../../src/index.ts'
import { callsToAnswer } from '../../../../src/internal.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'

/** What a person says about a call that waits. */
export interface Decision {
  toolCallId: string
  /** Of the arguments that the person was shown. Without it nothing is approved. */
  argumentsHash?: string
  approved: boolean
  reason?: string
}

/** The calls of a session that wait for a person: in the run that is on, or since the last one ended. */
async function pendingApprovals(live: LiveSession): Promise<PendingApproval[]> {
  if ((await live.continuedRun()) === undefined && !(await live.recorded.isKnown())) return []
  return (await live.agent()).pendingApprovals()
}

/**
 * Decides about calls that wait; resolves with the run in which they do. Where the run has ended `paused`, it is continued first.
 *
 * **Contract**
 * - Only what the session itself waits for can be decided. Refuses with 404 `notFound` for another call, 409 `argumentsChanged` for arguments that
 *   were not shown; then nothing was decided about any of them.
 */
export async function decide(live: LiveSession, decisions: readonly Decision[]): Promise<AgentRun> {
  const pending = await pendingApprovals(live)
  for (const decision of decisions) assertPending(pending, decision)
  const run = (await live.continuedRun()) ?? (await live.starts.begin((agent) => agent.continueLoop()))
  const open = new Map(decisions.map((decision) => [decision.toolCallId, decision]))
  const answer = (request: PendingApproval): void => {
    const decision = open.get(request.toolCallId)
    if (decision === undefined) return
    open.delete(request.toolCallId)
    tell(run, request, decision)
  }
  // A run that was continued asks again; one that was on waits already.
  const stop = run.subscribe((event) => {
    if (event.type === 'approvalRequested') answer(event)
    if (event.type === 'agentEnd' || open.size === 0) stop()
  })
  for (const request of run.pendingApprovals()) answer(request)
  if (open.size === 0) stop()
  return run
}

/**
 * As `decide`, for clients that cannot know whether somebody else was faster: where all of it was decided meanwhile, resolves with the run that goes
 * on with what was decided.
 */
export async function decideOrJoin(live: LiveSession, decisions: readonly Decision[]): Promise<AgentRun> {
  const pending = await pendingApprovals(live)
  const isPending = ({ toolCallId }: Decision) => pending.some((request) => request.toolCallId === toolCallId)
  const run = await live.latestRun()
  if (run === undefined || decisions.some(isPending) || !(await areKnown(live, decisions))) return decide(live, decisions)
  return run
}

/** Whether the model has made these calls. */
async function areKnown(live: LiveSession, decisions: readonly Decision[]): Promise<boolean> {
  const { messages } = await live.agent()
  const made = new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? callsToAnswer(message.content) : [])).map(({ id }) => id),
  )
  return decisions.every(({ toolCallId }) => made.has(toolCallId))
}

function assertPending(pending: readonly PendingApproval[], { toolCallId, argumentsHash, approved }: Decision): void {
  const request = pending.find((each) => each.toolCallId === toolCallId)
  if (request === undefined) {
    refuse(
      404,
      'notFound',
      `No call ${JSON.stringify(toolCallId.slice(0, 100))} waits for a decision. Read which ones do from …/approvals.`,
    )
  }
  if (argumentsHash === undefined && !approved) return
  if (argumentsHash !== request.argumentsHash) {
    refuse(409, 'argumentsChanged', 'The call waits with other arguments than those that were decided about. Show them, and ask again.')
  }
}

function tell(run: AgentRun, request: PendingApproval, { approved, argumentsHash, reason }: Decision): void {
  try {
    // By what the person was shown, not by what waits now.
    if (approved && argumentsHash !== undefined) run.approve({ ...refOf(request), argumentsHash })
    else run.deny(refOf(request), reason)
  } catch (error) {
    // Somebody else was faster, or the run was stopped meanwhile.
    if (!ConfigError.isInstance(error)) throw error
  }
}

function refOf({ toolCallId, argumentsHash }: PendingApproval): { toolCallId: string; argumentsHash: string } {
  return { toolCallId, argumentsHash }
}
