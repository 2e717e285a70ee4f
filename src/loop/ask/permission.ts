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

/** Whether a call may run: as it is or with the arguments a hook gave it, not at all, or once a person has answered. */
export type Permission = { kind: 'run'; call: PreparedCall } | RefusedCall | WaitingCall

/** A call that waits for a person. */
interface WaitingCall {
  kind: 'paused'
  pending: PendingApproval
}

/** What a person said about a call. */
type Answer = { kind: 'approved' } | { kind: 'denied'; message: string } | WaitingCall

/** Whether nobody has to be asked about `call`: neither a person nor a hook. */
export function isUnasked(loop: LoopState, { tool }: PreparedCall): boolean {
  return ruleOf(loop, tool) === false && !loop.hooks.watchesCalls
}

/** The rule of a tool: its own, or that of whoever watches over this run. Anything but `false` asks, whatever its type. */
export function ruleOf({ options }: LoopState, { name, needsApproval }: AgentTool): ApprovalRule {
  // Not `??`: null is something, and it is not `false`.
  const rule = needsApproval === undefined ? options.approvalRule?.(name) : needsApproval
  return rule === undefined ? false : rule
}

/**
 * Asks whoever has a say in a call that needs it: first a person, where its tool asks for that, then `beforeToolExecution`. Arguments that the
 * hook replaced are validated, and a person who was asked about others is asked again. Rejects with the reason of a stopped run; every
 * `approvalRequested` has been resolved by then.
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
  // Whoever answered saw the other arguments.
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
 * Whether the rule of a tool asks a person. It gets arguments of its own, parsed once more: what it does to them is not done to those that run.
 * Whatever it answers but `false`, or throws, asks. Rejects with the reason when the run is stopped.
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

/** Where nobody can be asked. */
const nobody: ApprovalHandler = {
  wait: (_request, decide) => {
    queueMicrotask(() => decide({ type: 'timeout' }))
    return () => undefined
  },
}

/**
 * Asks a person about a call.
 *
 * **Contract**
 * - `approvalRequested` is followed by exactly one `approvalResolved`, also when nobody answers or the run is stopped.
 * - `paused`: nobody answered within `approvalTimeoutMs`, or nobody can.
 * - Rejects with the reason when `stop` aborts first; it is the run's, or follows it.
 */
async function askPerson(loop: LoopState, { id: toolCallId, name: toolName, written }: PreparedCall, stop = loop.stop): Promise<Answer> {
  const { events, options, budget } = loop
  // A copy: whoever is shown the arguments cannot change what runs, or the history.
  const pending = { toolCallId, toolName, args: copyJson(written), argumentsHash: argumentsHash(written) }
  // Stopped before anybody was asked.
  stop.throwIfAborted()
  const decision = await new Promise<ApprovalDecision>((decide) => {
    new AskedQuestion(approvalQuestion(events, pending), decide).begin(options.approvals ?? nobody, {
      stop,
      whyStopped: () => (loop.stop.aborted ? 'the run was stopped' : 'withdrawn by the hook that asked'),
      timeoutMs: loop.config.approvalTimeoutMs,
      // Until there is an answer, nobody works.
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

/** What the hook of a call came to. `wasAsked`: a person has been asked about the arguments that are replaced now. */
type HookOutcome = { kind: 'run' } | { kind: 'replaced'; args: JsonObject; wasAsked: boolean } | Exclude<Answer, { kind: 'approved' }>

/**
 * Asks `beforeToolExecution` whether a call may run. The hook may ask a person, whose no is final; when nobody answers, the call waits,
 * whatever the hook makes of it. A request that is still open when the hook says no, or replaces the arguments, is withdrawn.
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

/** What one hook asks a person about its call: once, however often it asks, and only until it has decided. */
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
    // A hook may drop the promise: that the run was stopped is then no unhandled rejection.
    answer.catch(() => undefined)
    return answer
  }

  /** What the person says, if one was asked. */
  async answer(): Promise<Answer | undefined> {
    this.#isOver = true
    return this.#asked
  }

  /** What the person has said; nobody is asked any more. */
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
