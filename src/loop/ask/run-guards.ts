import type { AbortScope } from '../../base/abort.ts'
import type { ApprovalDecision, ApprovalDesk, ApprovalRequest, RunGuards } from '../../types/run/approval.ts'
import type { InputDesk } from '../../types/run/input-request.ts'
import type { LoopState } from '../loop-state.ts'
import { ruleOf } from './permission.ts'

/** Who asks people on behalf of a call. */
interface CallDesks {
  approvals: ApprovalDesk | undefined
  inputs: InputDesk | undefined
}

/** What watches over `loop`, for the loops that its call `toolCallId` starts: its settings, and who asks people for it. */
export function guardsOf(loop: LoopState, toolCallId: string, { approvals, inputs }: CallDesks): RunGuards {
  const { hooks, inputFilters, approvalTimeoutMs } = loop.config
  return {
    config: {
      ...(hooks !== undefined && { hooks }),
      ...(inputFilters !== undefined && { inputFilters }),
      ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
      ...(loop.watches !== undefined && { observers: loop.watches.inner(toolCallId) }),
    },
    options: {
      ...(approvals !== undefined && { approvals }),
      ...(inputs !== undefined && { inputs }),
      approvalRule: (toolName) => {
        const tool = loop.context.tools.find(({ name }) => name === toolName)
        return tool === undefined ? loop.options.approvalRule?.(toolName) : ruleOf(loop, tool)
      },
    },
  }
}

/**
 * Where the loops that one call starts ask people: their requests rise to the run of the call, as events of it.
 *
 * **Contract**
 * - Each `approvalRequested` has one `approvalResolved`, also when the loop no longer asks, or the call is over.
 * - After `close`, nobody is asked. What waits when the call is stopped is withdrawn at once: nobody can approve what was stopped.
 */
export class ForwardedApprovals implements ApprovalDesk {
  readonly #loop: LoopState
  readonly #above: ApprovalDesk
  readonly #call: { toolCallId: string; toolName: string }
  readonly #stop: AbortScope
  /** How to withdraw each request that waits. */
  readonly #waiting = new Set<(reason: string) => void>()
  #isClosed = false

  constructor(loop: LoopState, above: ApprovalDesk, { id, name, stop }: { id: string; name: string; stop: AbortScope }) {
    this.#loop = loop
    this.#above = above
    this.#call = { toolCallId: id, toolName: name }
    this.#stop = stop
  }

  wait(request: ApprovalRequest, decide: (decision: ApprovalDecision) => void): () => void {
    if (this.#isClosed || this.#stop.aborted) {
      // Not before the one who asks has said so.
      queueMicrotask(() => decide({ type: 'timeout' }))
      return () => undefined
    }
    const { events } = this.#loop
    const { toolCallId, toolName, arguments: args, argumentsHash, loopId, subAgent: deeper } = request
    const subAgent = { ...this.#call, loopId: deeper?.loopId ?? loopId }
    const pending = { toolCallId, toolName, arguments: args, argumentsHash, subAgent }
    let leave: (() => void) | undefined
    const withdraw = (reason: string): void => {
      if (this.#waiting.has(withdraw)) leave?.()
      resolve(false, reason)
    }
    const forgetStop = this.#stop.wait(() => withdraw('the run was stopped'))
    const resolve = (approved: boolean, reason?: string): boolean => {
      if (!this.#waiting.delete(withdraw)) return false
      forgetStop()
      events.emit({ type: 'approvalResolved', toolCallId, toolName, approved, subAgent, ...(reason !== undefined && { reason }) })
      return true
    }
    this.#waiting.add(withdraw)
    // Decided while it is being shown: told when it has been.
    let early: ApprovalDecision | undefined
    let settle = (decision: ApprovalDecision): void => {
      early = decision
    }
    leave = this.#above.wait({ ...pending, runId: events.runId, loopId: subAgent.loopId, seq: events.nextSeq }, (decision) =>
      settle(decision),
    )
    events.emit({ type: 'approvalRequested', ...pending })
    settle = (decision) => {
      if (resolve(decision.type === 'approved', decision.type === 'denied' ? decision.reason : undefined)) decide(decision)
    }
    if (early !== undefined) settle(early)
    return () => withdraw('the sub-agent no longer asks')
  }

  /** The call is over: what still waits is withdrawn. */
  close(): void {
    this.#isClosed = true
    for (const withdraw of this.#waiting) withdraw('the call that asked is over')
  }
}
