import type { JsonObject } from '../../contract/json.ts'
import type { EventBase } from '../../contract/run/event.ts'
import type { PendingApproval } from '../../contract/run/run-facts.ts'
import type { LoopHooks } from './hooks.ts'
import type { InputFilter } from './input-filter.ts'
import type { InputDesk } from './input-request.ts'
import type { LoopObserver } from './loop-watch.ts'

/**
 * Whether a person is asked before a call runs: always, or as its arguments require. A function gets arguments of its own. Whatever is said,
 * or left out by a rule that was asked: only `false` does not ask. A rule that throws asks.
 */
export type ApprovalRule = boolean | ((args: JsonObject) => boolean | Promise<boolean>)

/**
 * The request that a decision is about: an `approvalRequested` event, or an entry of `pendingApprovals()`. With `runId` and `seq`, as in the event,
 * the decision is about that request alone, not about a later one of the same call with the same arguments.
 */
export type ApprovalRef = Pick<PendingApproval, 'toolCallId' | 'argumentsHash'> & Partial<Pick<EventBase, 'runId' | 'seq'>>

/** A request as it is asked: what is shown, and which event shows it. */
export type ApprovalRequest = PendingApproval & Pick<EventBase, 'runId' | 'loopId' | 'seq'>

/** What was decided about a call; `timeout`: nobody answered in time, or can. */
export type ApprovalDecision = { type: 'approved' } | { type: 'denied'; reason?: string } | { type: 'timeout' }

/** Where a loop asks people. `Approvals` is one; a tool that starts loops gets that of its run in `ctx.guards`. */
export interface ApprovalDesk {
  /** Lets `request` wait; `decide` is called with the decision, at most once. Returns how to withdraw it: then `decide` is not called. */
  wait(request: ApprovalRequest, decide: (decision: ApprovalDecision) => void): () => void
}

/**
 * What watches over a run. A tool that starts a loop passes it on, so that what a person, a hook or a filter refuses stays refused:
 * `agentLoop(task, context, { ...ctx.guards?.config, ...config }, { emit, signal: ctx.signal, budget: ctx.budget, ...ctx.guards?.options })`.
 */
export interface RunGuards {
  /** Of the loop's configuration. */
  readonly config: {
    hooks?: LoopHooks
    inputFilters?: readonly InputFilter[]
    approvalTimeoutMs?: number
    observers?: readonly LoopObserver[]
  }
  /** Of its options. */
  readonly options: {
    /** Requests rise to the run that can answer, and are events of it. */
    approvals?: ApprovalDesk
    /** Where its calls ask people for more than a yes. */
    inputs?: InputDesk
    /** The rule for tools of that name that have none of their own. */
    approvalRule: (toolName: string) => ApprovalRule | undefined
  }
}
