import { linkAbort } from '../base/abort.ts'
import { ConfigError } from '../types/errors.ts'
import type { JsonObject } from '../types/json.ts'
import type { ApprovalOutcome } from './approve-call.ts'
import { approveCall } from './approve-call.ts'
import type { LoopLifecycle } from './loop-lifecycle.ts'
import type { LoopRun } from './loop-run.ts'
import type { PreparedCall } from './run-tool.ts'

/** What the hook of a call came to. `wasAsked`: a person has been asked about the arguments that are replaced now. */
export type HookOutcome =
  | { type: 'run' }
  | { type: 'replace'; args: JsonObject; wasAsked: boolean }
  | Exclude<ApprovalOutcome, { type: 'approved' }>

/**
 * Asks `beforeToolExecution` whether a call may run. The hook may ask a person, whose no is final; when nobody answers, the call waits,
 * whatever the hook makes of it. A request that is still open when the hook says no, or replaces the arguments, is withdrawn. Rejects with
 * the signal's reason when the run is stopped; every `approvalRequested` has been resolved by then.
 */
export async function permitByHook(run: LoopRun, lifecycle: LoopLifecycle, call: PreparedCall): Promise<HookOutcome> {
  const approval = new HookApproval(run, call)
  try {
    const decision = await lifecycle.beforeTool(call, call.written, approval.request)
    const outcome = decision.type === 'run' ? await approval.answer() : await approval.withdraw()
    if (outcome?.type === 'paused') return outcome
    if (decision.type === 'replace') return { ...decision, wasAsked: approval.wasAsked }
    if (outcome?.type === 'denied') return outcome
    return decision.type === 'run' ? decision : { type: 'denied', message: decision.message }
  } finally {
    await approval.withdraw()
  }
}

/** What one hook asks a person about its call: once, however often it asks, and only until it has decided. */
class HookApproval {
  readonly #run: LoopRun
  readonly #call: PreparedCall
  readonly #link: ReturnType<typeof linkAbort>
  #asked: Promise<ApprovalOutcome> | undefined
  #isOver = false

  constructor(run: LoopRun, call: PreparedCall) {
    this.#run = run
    this.#call = call
    this.#link = linkAbort(run.signal)
  }

  get wasAsked(): boolean {
    return this.#asked !== undefined
  }

  readonly request = (): Promise<boolean> => {
    const answer = this.#ask().then(({ type }) => type === 'approved')
    // A hook may drop the promise: that the run was stopped is then no unhandled rejection.
    answer.catch(() => undefined)
    return answer
  }

  /** What the person says, if one was asked. */
  async answer(): Promise<ApprovalOutcome | undefined> {
    this.#isOver = true
    return this.#asked
  }

  /** What the person has said; nobody is asked any more. */
  async withdraw(): Promise<ApprovalOutcome | undefined> {
    this.#isOver = true
    this.#link.abort(undefined)
    this.#link.release()
    return this.#asked?.catch(() => undefined)
  }

  async #ask(): Promise<ApprovalOutcome> {
    if (this.#isOver) {
      throw new ConfigError('unknownCall', `The hook of call "${this.#call.id}" has decided. Ask for approval before it returns.`)
    }
    this.#asked ??= approveCall(this.#run, this.#call, this.#link.signal)
    return this.#asked
  }
}
