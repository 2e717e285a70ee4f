import type { JsonObject } from '../types/json.ts'
import type { ApprovalOutcome } from './approve-call.ts'
import { approveCall } from './approve-call.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { LoopRun } from './loop-run.ts'
import type { PreparedCall } from './run-tool.ts'

/** What the hook of a call came to. `wasApproved`: a person has approved the arguments that are replaced now. */
export type HookOutcome =
  | { type: 'run' }
  | { type: 'replace'; args: JsonObject; wasApproved: boolean }
  | Exclude<ApprovalOutcome, { type: 'approved' }>

/**
 * Asks `beforeToolExecution` whether a call may run. The hook may ask a person; when nobody answers, the call waits, whatever the hook makes
 * of it. Rejects with the signal's reason when the run is stopped.
 */
export async function permitByHook(run: LoopRun, lifecycle: Lifecycle, call: PreparedCall): Promise<HookOutcome> {
  let asked: ApprovalOutcome | undefined
  const decision = await lifecycle.beforeTool(call, call.written, async () => {
    asked = await approveCall(run, call)
    return asked.type === 'approved'
  })
  // Assigned in the callback, which the type checker cannot see.
  const outcome = asked as ApprovalOutcome | undefined
  if (outcome?.type === 'paused') return outcome
  if (decision.type === 'skip') return outcome?.type === 'denied' ? outcome : { type: 'denied', message: decision.message }
  if (decision.type === 'run') return decision
  return { ...decision, wasApproved: outcome?.type === 'approved' }
}
