import { AbortScope } from '../../base/abort.ts'
import { argumentsHash } from '../../base/hash.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { PendingApproval } from '../../contract/run/run-facts.ts'
import type { ApprovalDecision, ApprovalHandler, ApprovalRule } from '../../types/run/question.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { type PreparedCall, parsed, type RefusedCall, validateArguments } from '../calls/prepare-call.ts'
import { errorResult } from '../calls/tool-result.ts'
import type { LoopState } from '../loop-state.ts'
import { AskedQuestion, approvalQuestion } from './question.ts'

/** Decision about a call: run it as is or with replaced arguments, refuse it, or wait for an approval. */
export type Permission = { kind: 'run'; call: PreparedCall } | RefusedCall | WaitingCall

/** A call with a pending approval. */
interface WaitingCall {
  kind: 'paused'
  pending: PendingApproval
}

/** Decision of a user about a call. */
type Answer = { kind: 'approved' } | { kind: 'denied'; message: string } | WaitingCall

/** Returns whether neither an approval nor a hook applies to `call`. */
export function isUnasked(loop: LoopState, { tool }: PreparedCall): boolean {
  return ruleOf(loop, tool) === false && !loop.hooks.watchesCalls
}

/** Returns the approval rule of a tool: its own, or that of the run's caller. Any value but `false` requires an approval. */
export function ruleOf({ options }: LoopState, { name, needsApproval }: AgentTool): ApprovalRule {
  // Not `??`: null is not `false`, so it requires an approval.
  const rule = needsApproval === undefined ? options.approvalRule?.(name) : needsApproval
  return rule === undefined ? false : rule
}

/**
 * Obtains permission for a call: first the approval if required, then `beforeToolExecution`. Replaced arguments are validated, and approved
 * again if the others were approved. Rejects with the reason of a stopped run, after every `approvalRequested` is resolved.
 */
export async function permit(loop: LoopState, call: PreparedCall): Promise<Permission> {
  const wasAsked = await needsApproval(loop, call)
  if (wasAsked) {
    const answer = await askPerson(loop, call)
    if (answer.kind !== 'approved') return refusal(answer)
  }
  if (!loop.hooks.watchesCalls) return { kind: 'run', call }
  const decision = await askHook(loop, call)
  if (decision.kind === 'run') return { kind: 'run', call }
  if (decision.kind !== 'replaced') return refusal(decision)
  if (call.isOfService === true)
    return { kind: 'refused', result: errorResult(`${call.name} is run by the service: its arguments cannot be changed.`) }
  const replaced = await validateArguments(loop, call.tool, call.id, decision.args)
  if (replaced.kind === 'refused') return replaced
  // The approval was for other arguments.
  if (wasAsked || decision.wasAsked || (await needsApproval(loop, replaced.call))) {
    const answer = await askPerson(loop, replaced.call)
    if (answer.kind !== 'approved') return refusal(answer)
  }
  return { kind: 'run', call: replaced.call }
}

function refusal(answer: Exclude<Answer, { kind: 'approved' }>): RefusedCall | WaitingCall {
  return answer.kind === 'denied' ? { kind: 'refused', result: errorResult(answer.message) } : answer
}

/**
 * Evaluates the approval rule of a tool with a fresh copy of the arguments, so that the rule cannot change them. Any result but `false`, or
 * an error, requires an approval. Rejects with the reason if the run is stopped.
 */
async function needsApproval(loop: LoopState, { tool, written }: PreparedCall): Promise<boolean> {
  const { stop } = loop
  const rule = ruleOf(loop, tool)
  if (typeof rule !== 'function') return rule !== false
  try {
    const own = await stop.race(Promise.resolve(parsed(loop, tool, written)))
    return own.issues !== undefined || (await stop.race(Promise.resolve(rule(own.value)))) !== false
  } catch (error) {
    if (stop.aborted) throw error
    return true
  }
}

/** Handler without clients. */
const unattended: ApprovalHandler = {
  wait: (_request, decide) => {
    queueMicrotask(() => decide({ type: 'timeout' }))
    return () => undefined
  },
}

/**
 * Requests an approval for a call.
 *
 * **Contract**
 * - `approvalRequested` is followed by exactly one `approvalResolved`, also on a timeout or if the run is stopped.
 * - `paused`: no decision within `approvalTimeoutMs`, or no client to decide.
 * - Rejects with the reason if `stop` aborts first; it is the run's, or derived from it.
 */
async function askPerson(loop: LoopState, { id: toolCallId, name: toolName, written }: PreparedCall, stop = loop.stop): Promise<Answer> {
  const { events, options, budget } = loop
  // A copy, so that readers of the arguments can change neither the call nor the history.
  const pending = { toolCallId, toolName, args: copyJson(written), argumentsHash: argumentsHash(written) }
  // Stopped before the request.
  stop.throwIfAborted()
  const decision = await new Promise<ApprovalDecision>((decide) => {
    new AskedQuestion(approvalQuestion(events, pending), decide).begin(options.approvals ?? unattended, {
      stop,
      whyStopped: () => (loop.stop.aborted ? 'the run was stopped' : 'withdrawn by the hook that asked'),
      timeoutMs: loop.config.approvalTimeoutMs,
      // The budget's time stands still while the run waits.
      pauses: [() => budget.pause()],
    })
  })
  if (decision.type === 'approved') return { kind: 'approved' }
  if (decision.type === 'timeout') {
    stop.throwIfAborted()
    return { kind: 'paused', pending }
  }
  const reason = decision.reason === undefined ? '' : `: ${decision.reason}`
  return { kind: 'denied', message: `The user denied this tool call${reason}` }
}

/** Outcome of a call's hook. `wasAsked`: the replaced arguments had been shown for approval. */
type HookOutcome = { kind: 'run' } | { kind: 'replaced'; args: JsonObject; wasAsked: boolean } | Exclude<Answer, { kind: 'approved' }>

/**
 * Runs `beforeToolExecution`. If the hook requested an approval, a denial is final, and a timeout leaves the call pending, whatever the
 * hook returns. A request that is still pending when the hook refuses or replaces the arguments is withdrawn.
 */
async function askHook(loop: LoopState, call: PreparedCall): Promise<HookOutcome> {
  const approval = new HookApproval(loop, call)
  try {
    const decision = await loop.hooks.beforeTool(call, call.written, approval.request)
    const answer = decision.kind === 'run' ? await approval.answer() : await approval.withdraw()
    if (answer?.kind === 'paused') return answer
    if (decision.kind === 'replaced') return { ...decision, wasAsked: approval.wasAsked }
    if (answer?.kind === 'denied') return answer
    return decision.kind === 'run' ? decision : { kind: 'denied', message: decision.message }
  } finally {
    await approval.withdraw()
  }
}

/** Approval requested by a hook: at most once per call, and only until the hook returns. */
class HookApproval {
  readonly #loop: LoopState
  readonly #call: PreparedCall
  readonly #stop: AbortScope
  #asked: Promise<Answer> | undefined
  #isOver = false

  constructor(loop: LoopState, call: PreparedCall) {
    this.#loop = loop
    this.#call = call
    this.#stop = new AbortScope(loop.stop)
  }

  get wasAsked(): boolean {
    return this.#asked !== undefined
  }

  readonly request = (): Promise<boolean> => {
    const answer = this.#ask().then(({ kind }) => kind === 'approved')
    // The hook may drop the promise: a stopped run must not cause an unhandled rejection.
    answer.catch(() => undefined)
    return answer
  }

  /** Returns the decision, if one was requested. */
  async answer(): Promise<Answer | undefined> {
    this.#isOver = true
    return this.#asked
  }

  /** Returns the decision so far, and withdraws a pending request. */
  async withdraw(): Promise<Answer | undefined> {
    this.#isOver = true
    this.#stop.abort()
    this.#stop.release()
    return this.#asked?.catch(() => undefined)
  }

  async #ask(): Promise<Answer> {
    if (this.#isOver) {
      throw new ConfigError('unknownCall', `The hook of call "${this.#call.id}" has decided. Ask for approval before it returns.`)
    }
    this.#asked ??= askPerson(this.#loop, this.#call, this.#stop)
    return this.#asked
  }
}
