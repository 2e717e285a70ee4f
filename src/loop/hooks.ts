import { type AbortScope, settleWithin } from '../base/abort.ts'
import { copyJson } from '../base/json/json-value.ts'
import { errorText, PhiError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope, ToolResultMessage } from '../contract/message/message.ts'
import type { Usage } from '../contract/model/usage.ts'
import type { RunFailure } from '../contract/run/run-facts.ts'
import type { ToolResult } from '../contract/tool/tool-result.ts'
import type { SendData } from '../types/run/data.ts'
import type { HookOrigin, ReplacedArguments, ToolHookInfo } from '../types/run/hooks.ts'
import type { RunEnding, RunResult } from '../types/run/run.ts'
import type { LoopHooks } from '../types/run/turn.ts'
import { errorResult, toToolResult } from './calls/tool-result.ts'
import type { DataParts } from './data-parts.ts'
import type { RunLog } from './run-log.ts'

/** The fields of a loop that hooks use. */
export interface HookedLoop {
  readonly agentId: string
  readonly events: { readonly loopId: string }
  readonly context: { readonly messages: readonly AgentMessage[] }
  readonly options: { readonly signal: AbortSignal; readonly agentName?: string; readonly context?: unknown }
  readonly stop: AbortScope
  readonly turnIndex: number
  readonly failure: RunFailure | undefined
  fail(error: unknown): RunFailure
  readonly log: Pick<RunLog, 'warn' | 'withoutSecrets'>
  readonly data: Pick<DataParts, 'send'>
}

/** The fields of a tool call that hooks receive. */
export interface HookedCall {
  id: string
  name: string
}

/** Decision from `beforeToolExecution`: run the call, run it with other arguments, or return this error. */
export type ToolDecision = { kind: 'run' } | { kind: 'replaced'; args: JsonObject } | { kind: 'refused'; message: string }

/** Milliseconds that an aborted run waits for its last hook. */
const lastHookGraceMs = 1000

/**
 * Runs a loop's hooks at their fixed points.
 *
 * **Contract**
 * - Without a hook, methods return `undefined` instead of a promise.
 * - Never rejects, except `beforeTool` with the signal's reason. See {@link LoopHooks} for the meaning of each verdict.
 * - Hooks get copies of lists and results, so they can change neither the history nor an event.
 */
export class HookRunner {
  readonly #loop: HookedLoop
  readonly #hooks: LoopHooks
  readonly #nameOf: (hook: string) => string
  readonly #sendData: SendData = (name, value, options) => this.#loop.data.send(name, value, options)

  /** `nameOf` formats a hook's name for error messages. */
  constructor(loop: HookedLoop, hooks: LoopHooks = {}, nameOf = (hook: string): string => `The ${hook} hook`) {
    this.#loop = loop
    this.#hooks = hooks
    this.#nameOf = nameOf
  }

  /** Returns the ending if `beforeLoop` refuses the run, otherwise `undefined`. */
  beforeLoop(): Promise<RunEnding | undefined> | undefined {
    if (this.#hooks.beforeLoop === undefined) return undefined
    const { stop, context } = this.#loop
    return this.#mayGoOn('beforeLoop', (hooks) =>
      hooks.beforeLoop?.({ ...this.origin(), messages: [...context.messages], signal: stop.signal }),
    ).then(
      // Do not end a stopped run here, so that the run still emits `agentStart` and `agentEnd`.
      (refused) => (refused?.status === 'aborted' ? undefined : refused),
    )
  }

  /** Calls `afterLoop` after `agentEnd`. An aborted run waits at most one second for the hook. */
  afterLoop({ messages, usage, status }: RunResult): Promise<unknown> | undefined {
    if (this.#hooks.afterLoop === undefined) return undefined
    const done = this.#call((hooks) => hooks.afterLoop?.({ ...this.origin(), messages: [...messages], usage: { ...usage }, status }))
    return settleWithin(done, this.#loop.options.signal, lastHookGraceMs).catch((error) => this.#log('afterLoop', error))
  }

  /** Returns the ending if `beforeTurn` refuses this turn, otherwise `undefined`. */
  beforeTurn(): Promise<RunEnding | undefined> | undefined {
    if (this.#hooks.beforeTurn === undefined) return undefined
    const { stop, context, turnIndex } = this.#loop
    return this.#mayGoOn('beforeTurn', (hooks) =>
      hooks.beforeTurn?.({ ...this.origin(), turnIndex, messages: [...context.messages], signal: stop.signal }),
    )
  }

  afterTurn(
    message: AssistantMessage & MessageEnvelope,
    usage: Usage,
    results: readonly (ToolResultMessage & MessageEnvelope)[],
  ): Promise<void> | undefined {
    if (this.#hooks.afterTurn === undefined) return undefined
    const { stop, context, turnIndex } = this.#loop
    const info = () => ({ ...this.origin(), turnIndex, messages: [...context.messages], signal: stop.signal })
    return this.observe('afterTurn', (hooks) => hooks.afterTurn?.({ ...info(), message, toolResults: [...results], usage }))
  }

  onError(error: RunFailure): Promise<void> | undefined {
    if (this.#hooks.onError === undefined) return undefined
    const { turnIndex, stop } = this.#loop
    return this.observe('onError', (hooks) => hooks.onError?.({ ...this.origin(), error, turnIndex, signal: stop.signal }))
  }

  /** Whether a hook checks calls before they run. */
  get watchesCalls(): boolean {
    return this.#hooks.beforeToolExecution !== undefined
  }

  /** Rejects with the signal's reason if the run is stopped. */
  async beforeTool(call: HookedCall, args: JsonObject, requestApproval: () => Promise<boolean>): Promise<ToolDecision> {
    const { stop } = this.#loop
    const info = { ...this.#ofCall(call), args: copyJson(args), requestApproval }
    try {
      const verdict = await this.#ask((hooks) => hooks.beforeToolExecution?.(info))
      const no = refusalOf(verdict)
      if (no !== undefined) return { kind: 'refused', message: `Tool execution skipped by before_tool_execution hook${no}` }
      if (!isReplacement(verdict)) return { kind: 'run' }
      // Copy the arguments, so that the hook cannot change them after their approval.
      return { kind: 'replaced', args: JSON.parse(JSON.stringify(verdict.arguments)) }
    } catch (error) {
      if (stop.aborted) throw error
      this.#log('beforeToolExecution', error)
      return { kind: 'refused', message: 'Tool execution skipped: the before_tool_execution hook failed.' }
    }
  }

  /** Returns the replacement for a call's result before the result is visible. If the hook fails, withholds the result. */
  endTool(call: HookedCall, result: ToolResult): Promise<ToolResult> | undefined {
    if (this.#hooks.beforeToolExecutionEnd === undefined) return undefined
    return this.#replaced('beforeToolExecutionEnd', call, result, (hooks, info) => hooks.beforeToolExecutionEnd?.(info)).catch((error) => {
      this.#log('beforeToolExecutionEnd', error)
      return errorResult('The result was withheld: the before_tool_execution_end hook failed.')
    })
  }

  /** Returns the result for the history: the call's result, or the hook's replacement. */
  afterTool(call: HookedCall, result: ToolResult): Promise<ToolResult> | undefined {
    if (this.#hooks.afterToolExecution === undefined) return undefined
    return this.#replaced('afterToolExecution', call, result, (hooks, info) => hooks.afterToolExecution?.(info)).catch((error) => {
      this.#log('afterToolExecution', error)
      return result
    })
  }

  async #replaced(
    name: string,
    call: HookedCall,
    result: ToolResult,
    ask: (hooks: LoopHooks, info: ToolHookInfo & { isError: boolean; result: ToolResult }) => unknown,
  ): Promise<ToolResult> {
    const info = { ...this.#ofCall(call), isError: result.isError === true, result: copyJson(result) }
    const answer = await this.#ask((hooks) => ask(hooks, info))
    if (typeof answer !== 'object' || answer === null || !('result' in answer)) return result
    const { childLoopId, endRun, offers } = result
    const kept = {
      ...(childLoopId !== undefined && { childLoopId }),
      ...(endRun !== undefined && { endRun }),
      ...(offers !== undefined && { offers }),
    }
    return { ...toToolResult(`${name} hook of ${call.name}`, answer.result, this.#loop.log), ...kept }
  }

  /** Whether hooks are set for tool updates. */
  get watchesUpdates(): boolean {
    return this.#hooks.beforeToolExecutionUpdate !== undefined || this.#hooks.afterToolExecutionUpdate !== undefined
  }

  /** Emits a partial result with `emit`, unless a hook refuses. `emit` returns whether the call was still running. */
  async update(call: HookedCall, partialResult: ToolResult, emit: () => boolean): Promise<void> {
    const info = () => ({ ...this.#ofCall(call), partialResult: copyJson(partialResult) })
    if (!(await this.allows('beforeToolExecutionUpdate', (hooks) => hooks.beforeToolExecutionUpdate?.(info())))) return
    if (emit()) await this.observe('afterToolExecutionUpdate', (hooks) => hooks.afterToolExecutionUpdate?.(info()))
  }

  /** Identifies the calling loop. */
  origin(): HookOrigin {
    const { agentId, events, options } = this.#loop
    return {
      context: options.context,
      data: this.#sendData,
      loopId: events.loopId,
      agentId,
      ...(options.agentName !== undefined && { agentName: options.agentName }),
    }
  }

  #ofCall({ id, name }: HookedCall): ToolHookInfo {
    return { ...this.origin(), toolCallId: id, toolName: name, signal: this.#loop.stop.signal }
  }

  async #mayGoOn(name: string, call: (hooks: LoopHooks) => unknown): Promise<RunEnding | undefined> {
    const loop = this.#loop
    let no: string | undefined
    try {
      no = refusalOf(await this.#ask(call))
      if (no === undefined) return loop.stop.aborted ? { status: 'aborted' } : undefined
    } catch (error) {
      if (loop.failure !== undefined) return { status: 'error', error: loop.failure }
      if (loop.stop.aborted) return { status: 'aborted' }
      this.#log(name, error)
      const failed = hookFailed(this.#nameOf(name), error)
      const { code, message } = loop.fail(failed)
      return { status: 'error', error: { code, message } }
    }
    return { status: 'rejected', rejection: `${this.#nameOf(name)} returned false${no}` }
  }

  /** Returns whether the hook `name` allows the next step. A hook that fails refuses the step. */
  async allows(name: string, call: (hooks: LoopHooks) => unknown): Promise<boolean> {
    try {
      return refusalOf(await this.#ask(call)) === undefined
    } catch (error) {
      this.#log(name, error)
      return false
    }
  }

  /** Calls an observing hook. Logs a failure. */
  async observe(name: string, call: (hooks: LoopHooks) => unknown): Promise<void> {
    try {
      await this.#ask(call)
    } catch (error) {
      this.#log(name, error)
    }
  }

  /** Calls a hook. Async, so that a synchronous throw becomes a rejection. */
  async #call(call: (hooks: LoopHooks) => unknown): Promise<unknown> {
    return call(this.#hooks)
  }

  #ask(call: (hooks: LoopHooks) => unknown): Promise<unknown> {
    return this.#loop.stop.race(this.#call(call))
  }

  /** Logs a hook failure. Ignores aborts. */
  #log(hook: string, error: unknown): void {
    if (!this.#loop.stop.aborted) this.#loop.log.warn('hookFailed', { hook, message: errorText(error) })
  }
}

/** Creates the error for a run whose guard failed. `who` is the subject of the message. */
export function hookFailed(who: string, error: unknown): PhiError {
  return new PhiError('hookFailed', `${who} failed: ${errorText(error).replace(/\.$/, '')}. The run stopped.`, { cause: error })
}

/** Returns the message suffix for a refusal, or `undefined` if `verdict` is not a refusal. */
export function refusalOf(verdict: unknown): string | undefined {
  if (verdict === false) return '.'
  if (typeof verdict !== 'object' || verdict === null || !('allow' in verdict) || verdict.allow !== false) return undefined
  return 'reason' in verdict && typeof verdict.reason === 'string' && verdict.reason !== '' ? `: ${verdict.reason}` : '.'
}

/**
 * Returns whether a verdict replaces the arguments. Accepts invalid arguments: they fail validation later, so the call never runs with the
 * original arguments.
 */
function isReplacement(verdict: unknown): verdict is ReplacedArguments {
  return typeof verdict === 'object' && verdict !== null && 'arguments' in verdict
}
