import { AbortScope } from '../../base/abort.ts'
import { argumentsHash } from '../../base/hash.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { PendingApproval } from '../../contract/run/run-facts.ts'
import type { ApprovalDecision, ApprovalHandler, ApprovalRule } from '../../types/run/question.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { editedCall, type PreparedCall, parsed, type RefusedCall, replaceArguments } from '../calls/prepare-call.ts'
import { errorResult } from '../calls/tool-result.ts'
import type { LoopState } from '../loop-state.ts'
import { AskedQuestion, approvalQuestion } from './question.ts'

/** What to do with a call: run it with the original or replaced arguments, refuse it, or wait for an approval. */
export type Permission = { kind: 'run'; call: PreparedCall } | RefusedCall | WaitingCall

/** A call with a pending approval. */
interface WaitingCall {
  kind: 'paused'
  pending: PendingApproval
}

/** A user's decision about a call. An approval contains the call that may run. */
type Answer = { kind: 'approved'; call: PreparedCall } | { kind: 'denied'; message: string } | WaitingCall

/** Returns whether neither an approval nor a hook applies to `call`. */
export function isUnasked(loop: LoopState, { tool }: PreparedCall): boolean {
  return ruleOf(loop, tool) === false && !loop.hooks.watchesCalls
}

/** Returns a tool's approval rule, or the parent run's rule for that tool name. Any value except `false` requires an approval. */
export function ruleOf({ options }: LoopState, { name, needsApproval }: AgentTool): ApprovalRule {
  // Do not use `??`, because `null` must require an approval, like every value except `false`.
  const rule = needsApproval === undefined ? options.approvalRule?.(name) : needsApproval
  return rule === undefined ? false : rule
}

/**
 * Gets permission for a call: requests approval if required, then calls `beforeToolExecution`. If the hook replaces the arguments,
 * validates them and repeats the approval. If the run is stopped, resolves every `approvalRequested` event and rejects with the reason.
 */
export async function permit(loop: LoopState, call: PreparedCall): Promise<Permission> {
  if (!(await needsApproval(loop, call))) return passHook(loop, call, false)
  const answer = await askPerson(loop, call)
  return answer.kind === 'approved' ? passHook(loop, answer.call, true) : refusal(answer)
}

/**
 * Runs `beforeToolExecution`. Runs it again if an approver then edits the arguments. `isEdit` means that an approver has just edited them.
 */
async function passHook(loop: LoopState, call: PreparedCall, wasAsked: boolean, isEdit?: true): Promise<Permission> {
  if (!loop.hooks.watchesCalls) return { kind: 'run', call }
  const decision = await askHook(loop, call, isEdit)
  if (decision.kind === 'run') return decision.call === call ? decision : passHook(loop, decision.call, true, true)
  if (decision.kind !== 'replaced') return refusal(decision)
  const replaced = await replaceArguments(loop, call, decision.args)
  if (replaced.kind === 'refused') return replaced
  // An earlier approval was for other arguments, so request another one.
  if (wasAsked || decision.wasAsked || (await needsApproval(loop, replaced.call))) {
    const answer = await askPerson(loop, replaced.call)
    if (answer.kind !== 'approved') return refusal(answer)
    if (answer.call !== replaced.call) return passHook(loop, answer.call, true, true)
  }
  return { kind: 'run', call: replaced.call }
}

function refusal(answer: Exclude<Answer, { kind: 'approved' }>): RefusedCall | WaitingCall {
  return answer.kind === 'denied' ? { kind: 'refused', result: errorResult(answer.message) } : answer
}

/**
 * Evaluates a tool's approval rule with a fresh copy of the arguments, so that the rule cannot change them. Any result except `false`, or
 * an error, requires an approval. Rejects with the reason if the run is stopped.
 */
async function needsApproval(loop: LoopState, { tool, written }: PreparedCall): Promise<boolean> {
  const { stop, options } = loop
  const rule = ruleOf(loop, tool)
  if (typeof rule !== 'function') return rule !== false
  try {
    const own = await stop.race(Promise.resolve(parsed(loop, tool, written)))
    return own.issues !== undefined || (await stop.race(Promise.resolve(rule(own.value, { context: options.context })))) !== false
  } catch (error) {
    if (stop.aborted) throw error
    return true
  }
}

/** Handler for runs without clients. */
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
 * - Emits exactly one `approvalResolved` for `approvalRequested`, even after a timeout or if the run is stopped.
 * - `paused`: no decision within `approvalTimeoutMs`, or no client that can decide.
 * - Rejects with the reason if `stop` aborts first. `stop` is the run's scope, or derived from it.
 */
async function askPerson(loop: LoopState, call: PreparedCall, stop = loop.stop): Promise<Answer> {
  const { id: toolCallId, name: toolName, written } = call
  const { events, options, budget } = loop
  // Copy the arguments, so that readers can change neither the call nor the history.
  const pending = { toolCallId, toolName, args: copyJson(written), argumentsHash: argumentsHash(written) }
  // The run was stopped before the request.
  stop.throwIfAborted()
  const decision = await new Promise<ApprovalDecision>((decide) => {
    const checkEdit = async (given: JsonObject) => (await editedCall(loop, call, given)).written
    new AskedQuestion(approvalQuestion(events, pending, { checkEdit }), decide).begin(options.approvals ?? unattended, {
      stop,
      whyStopped: () => (loop.stop.aborted ? 'the run was stopped' : 'withdrawn by its hook'),
      timeoutMs: loop.config.approvalTimeoutMs,
      // Pause the budget's clock while the run waits.
      pauses: [() => budget.pause()],
    })
  })
  if (decision.type === 'approved') {
    const { edited } = decision
    return { kind: 'approved', call: edited === undefined ? call : { ...(await editedCall(loop, call, edited.arguments)), edited } }
  }
  if (decision.type === 'timeout') {
    stop.throwIfAborted()
    return { kind: 'paused', pending }
  }
  const reason = decision.reason === undefined ? '' : `: ${decision.reason}`
  return { kind: 'denied', message: `The user denied this tool call${reason}` }
}

/** Outcome of a call's hook. `wasAsked` means that the approver already saw the replaced arguments. */
type HookOutcome =
  | { kind: 'run'; call: PreparedCall }
  | { kind: 'replaced'; args: JsonObject; wasAsked: boolean }
  | Exclude<Answer, { kind: 'approved' }>

/**
 * Runs `beforeToolExecution`. If the hook requested an approval, a denial is final, and a timeout leaves the call pending, regardless of
 * what the hook returns. Withdraws a request that is still pending when the hook refuses the call or replaces the arguments.
 */
async function askHook(loop: LoopState, call: PreparedCall, isApproved: true | undefined): Promise<HookOutcome> {
  const approval = new HookApproval(loop, call, isApproved)
  try {
    const decision = await loop.hooks.beforeTool(call, call.written, approval.request)
    const answer = decision.kind === 'run' ? await approval.answer() : await approval.withdraw()
    if (answer?.kind === 'paused') return answer
    if (decision.kind === 'replaced') return { ...decision, wasAsked: approval.wasAsked }
    if (answer?.kind === 'denied') return answer
    return decision.kind === 'run' ? { kind: 'run', call: answer?.call ?? call } : { kind: 'denied', message: decision.message }
  } finally {
    await approval.withdraw()
  }
}

/** Lets a hook request an approval: at most once per call, and only until the hook returns. */
class HookApproval {
  readonly #loop: LoopState
  readonly #call: PreparedCall
  readonly #stop: AbortScope
  #asked: Promise<Answer> | undefined
  #isOver = false

  constructor(loop: LoopState, call: PreparedCall, isApproved: true | undefined) {
    this.#loop = loop
    this.#call = call
    if (isApproved) this.#asked = Promise.resolve({ kind: 'approved', call })
    this.#stop = new AbortScope(loop.stop)
  }

  get wasAsked(): boolean {
    return this.#asked !== undefined
  }

  readonly request = (): Promise<boolean> => {
    const answer = this.#ask().then(({ kind }) => kind === 'approved')
    // Prevent an unhandled rejection if the hook ignores the promise and the run is stopped.
    answer.catch(() => undefined)
    return answer
  }

  /** Returns the decision, if an approval was requested. */
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
      throw new ConfigError('unknownCall', `The hook of call "${this.#call.id}" has already returned. Request approval before it returns.`)
    }
    this.#asked ??= askPerson(this.#loop, this.#call, this.#stop)
    return this.#asked
  }
}
