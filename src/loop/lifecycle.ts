import { raceAbort, settleWithin } from '../base/abort.ts'
import { errorText, PhiError } from '../types/errors.ts'
import type { RunStatus } from '../types/event.ts'
import type { CompactionFigures, LoopHooks, ReplacedArguments } from '../types/hooks.ts'
import type { JsonObject } from '../types/json.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope } from '../types/message.ts'
import type { RunResult } from '../types/run.ts'
import type { ToolResult } from '../types/tool-result.ts'
import type { Usage } from '../types/usage.ts'
import { FilteredInputs } from './filtered-inputs.ts'
import type { MessageSupplier } from './loop-config.ts'
import type { HookedCall, LoopLifecycle, ToolDecision } from './loop-lifecycle.ts'
import type { LoopRun } from './loop-run.ts'
import type { ToolResultEntry } from './tool-result.ts'

/** How long an aborted run still waits for its last hook, in ms. */
const lastHookGraceMs = 1000

/**
 * Runs hooks and filters at the fixed points of one loop. Loaded only for loops that have some. Hooks get copies of lists and results: what
 * they do to them is not done to the history or to an event.
 */
export class Lifecycle implements LoopLifecycle {
  readonly #run: LoopRun
  readonly #hooks: LoopHooks
  readonly #inputs: FilteredInputs

  constructor(run: LoopRun) {
    this.#run = run
    this.#hooks = run.config.hooks ?? {}
    this.#inputs = new FilteredInputs(run)
  }

  async beforeLoop(): Promise<RunStatus | undefined> {
    const { signal, context } = this.#run
    const refused = await this.#mayGoOn('beforeLoop', (hooks) => hooks.beforeLoop?.({ messages: [...context.messages], signal }))
    // A run that was stopped begins and ends like any other.
    return refused === 'aborted' ? undefined : refused
  }

  async beforeTurn(inputs?: MessageSupplier): Promise<RunStatus | undefined> {
    const { signal, context, turnIndex } = this.#run
    const refused = inputs && (await this.#inputs.filter(inputs))
    if (refused !== undefined) return refused
    return this.#mayGoOn('beforeTurn', (hooks) => hooks.beforeTurn?.({ turnIndex, messages: [...context.messages], signal }))
  }

  // It was taken back while a filter or a hook looked at it.
  get isUnasked(): boolean {
    const { steering, followUps } = this.#run.config
    return !this.#inputs.hasTaken && !this.#run.hasWaiting(steering) && !this.#run.hasWaiting(followUps)
  }

  take(supplier: MessageSupplier): readonly AgentMessage[] {
    return this.#inputs.take(supplier)
  }

  afterTurn(message: AssistantMessage & MessageEnvelope, usage: Usage, toolResults: readonly ToolResultEntry[]): Promise<void> {
    const { signal, context, turnIndex } = this.#run
    return this.#observe('afterTurn', (hooks) =>
      hooks.afterTurn?.({ turnIndex, messages: [...context.messages], signal, message, toolResults: [...toolResults], usage }),
    )
  }

  async onError(): Promise<void> {
    const { modelFailure: error, turnIndex } = this.#run
    if (error !== undefined) await this.#observe('onError', (hooks) => hooks.onError?.({ error, turnIndex }))
  }

  async beforeTool(call: HookedCall, args: JsonObject, requestApproval: () => Promise<boolean>): Promise<ToolDecision> {
    const { signal } = this.#run
    const info = { toolCallId: call.id, toolName: call.name, args: structuredClone(args), signal, requestApproval }
    try {
      const verdict = await this.#ask((hooks) => hooks.beforeToolExecution?.(info))
      if (verdict === false) return { type: 'skip', message: 'Tool execution skipped by before_tool_execution hook.' }
      if (!isReplacement(verdict)) return { type: 'run' }
      // A copy: the hook cannot change what people are asked about and the tool gets.
      return { type: 'replace', args: JSON.parse(JSON.stringify(verdict.arguments)) }
    } catch (error) {
      if (signal.aborted) throw error
      this.#log('beforeToolExecution', error)
      return { type: 'skip', message: 'Tool execution skipped: the before_tool_execution hook failed.' }
    }
  }

  afterTool({ id, name }: HookedCall, result: ToolResult): Promise<void> {
    const info = { toolCallId: id, toolName: name, isError: result.isError === true }
    return this.#observe('afterToolExecution', (hooks) => hooks.afterToolExecution?.({ ...info, result: structuredClone(result) }))
  }

  get watchesUpdates(): boolean {
    return this.#hooks.beforeToolExecutionUpdate !== undefined || this.#hooks.afterToolExecutionUpdate !== undefined
  }

  async update({ id, name }: HookedCall, partialResult: ToolResult, emit: () => boolean): Promise<void> {
    const info = () => ({ toolCallId: id, toolName: name, partialResult: structuredClone(partialResult) })
    if (!(await this.#allows('beforeToolExecutionUpdate', (hooks) => hooks.beforeToolExecutionUpdate?.(info())))) return
    if (emit()) await this.#observe('afterToolExecutionUpdate', (hooks) => hooks.afterToolExecutionUpdate?.(info()))
  }

  beforeCompaction(estimatedTokens: number, messageCount: number): Promise<boolean> {
    const { signal } = this.#run
    return this.#allows('beforeCompactionStart', (hooks) => hooks.beforeCompactionStart?.({ estimatedTokens, messageCount, signal }))
  }

  afterCompaction(figures: CompactionFigures): Promise<void> {
    return this.#observe('afterCompactionEnd', (hooks) => hooks.afterCompactionEnd?.(figures))
  }

  async afterLoop({ messages, usage, status }: RunResult): Promise<void> {
    try {
      const done = this.#call((hooks) => hooks.afterLoop?.({ messages: [...messages], usage, status }))
      await settleWithin(done, this.#run.options.signal, lastHookGraceMs)
    } catch (error) {
      this.#log('afterLoop', error)
    }
  }

  async #mayGoOn(name: string, call: (hooks: LoopHooks) => unknown): Promise<RunStatus | undefined> {
    const run = this.#run
    try {
      if ((await this.#ask(call)) !== false) return run.signal.aborted ? 'aborted' : undefined
    } catch (error) {
      if (run.failure !== undefined) return 'error'
      if (run.signal.aborted) return 'aborted'
      this.#log(name, error)
      run.fail(new PhiError('hookFailed', `The ${name} hook failed: ${errorText(error)}. The run stopped.`, { cause: error }))
      return 'error'
    }
    run.rejection = `The ${name} hook returned false.`
    return 'rejected'
  }

  async #allows(name: string, call: (hooks: LoopHooks) => unknown): Promise<boolean> {
    try {
      return (await this.#ask(call)) !== false
    } catch (error) {
      this.#log(name, error)
      return false
    }
  }

  async #observe(name: string, call: (hooks: LoopHooks) => unknown): Promise<void> {
    try {
      await this.#ask(call)
    } catch (error) {
      this.#log(name, error)
    }
  }

  /** An async function, so that a hook that throws at once is a rejection too. */
  async #call(call: (hooks: LoopHooks) => unknown): Promise<unknown> {
    return call(this.#hooks)
  }

  #ask(call: (hooks: LoopHooks) => unknown): Promise<unknown> {
    return raceAbort(this.#call(call), this.#run.signal)
  }

  /** An abort is no failure of the hook. */
  #log(hook: string, error: unknown): void {
    if (!this.#run.signal.aborted) this.#run.warn('hookFailed', { hook, message: errorText(error) })
  }
}

/** Whatever it holds: arguments that are none do not validate, and the call is not run with the old ones. */
function isReplacement(verdict: unknown): verdict is ReplacedArguments {
  return typeof verdict === 'object' && verdict !== null && 'arguments' in verdict
}
