import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFlag, aPositiveNumber, aText, options as optionsOf, required, texts, wholeFrom } from '../../../src/contract/shape/shape.ts'
import { type AgentMessage, type JsonObject, type ToolResult, textOf } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import type { HookRefusal, ToolHookInfo } from '../../../src/types/run/hooks.ts'
import type { HookScripts, ScriptableHook } from '../../../src/types/run/turn.ts'
import { realDirectory } from '../policy/root.ts'
import { readAnswer, runScript, type ScriptRunner } from './run-script.ts'
import { type CheckScript, checkCopies, type Interpreters, openScript, type ScriptFile } from './script-file.ts'

/** Options for `scriptHooks`. Source: docs/reference/hooks.md */
export interface ScriptHookOptions {
  /** Script paths per hook, relative to `root`. */
  scripts: HookScripts
  /** The directory that contains the scripts, and their working directory. */
  root: string
  /** Allows scripts outside `root`. Default: false. */
  allowOutside?: boolean
  /** Milliseconds per call. Default: 10,000. */
  timeoutMs?: number
  /** Maximum output bytes per call. Default: 65,536. */
  maxOutputBytes?: number
  /** Environment variables in addition to PATH, HOME, LANG and TMPDIR. */
  env?: Record<string, string>
  /** Interpreters that replace the system defaults. */
  interpreters?: Interpreters
}

const hookScripts = optionsOf<Required<HookScripts>>({
  beforeLoop: aText,
  afterLoop: aText,
  beforeTurn: aText,
  afterTurn: aText,
  onError: aText,
  beforeToolExecution: aText,
  afterToolExecution: aText,
  beforeToolExecutionUpdate: aText,
  afterToolExecutionUpdate: aText,
  beforeCompactionStart: aText,
  afterCompactionEnd: aText,
})

const scriptHookOptions = optionsOf<ScriptHookOptions>({
  scripts: required(hookScripts),
  root: required(aText),
  allowOutside: aFlag,
  timeoutMs: aPositiveNumber,
  maxOutputBytes: wholeFrom(1),
  env: texts,
  interpreters: optionsOf<Interpreters>({ sh: aText, bash: aText, python3: aText, node: aText }),
})

/** Maximum characters of a tool result or model response that a script receives. */
const maxGiven = 65_536

/**
 * Creates hooks from scripts. Each call starts the script, writes JSON to its standard input, and waits for its exit.
 *
 * **Contract**
 * - A `before…` script allows with exit code 0 and empty output or `{"allow": true}`. It denies with `{"allow": false, "reason": "…"}`.
 * - Any other exit code, a signal, a timeout, too much output or other output denies too, and is logged as `hookFailed`.
 * - The other scripts only observe. Their failures are logged as `hookFailed`, and the run continues.
 * - Scripts are read when this is called. A script that was changed or removed later does not run, because a tool may have written it.
 * - Scripts run on the host without a sandbox, with the rights of this process and a minimal environment. Their process group is
 *   killed on exit, on timeout and when the run is aborted.
 *
 * Throws `ConfigError` `invalidOption` for an unusable script. Source: docs/reference/hooks.md
 *
 * @example
 * ```ts
 * const hooks = scriptHooks({ root: '.', scripts: { beforeToolExecution: 'hooks/check-call.py' } })
 * const agent = new Agent({ model, tools, hooks })
 * ```
 */
export function scriptHooks(options: ScriptHookOptions): LoopHooks {
  return checkedScriptHooks(options)
}

/** Like {@link scriptHooks}, but runs `check` on each script, so that only trusted content runs. */
export function checkedScriptHooks(options: ScriptHookOptions, check?: CheckScript): LoopHooks {
  checkOptions(options, scriptHookOptions)
  const { scripts, allowOutside = false, timeoutMs = 10_000, maxOutputBytes = 65_536, env = {}, interpreters = {} } = options
  const root = realDirectory(options.root, true)
  checkCopies(root)
  const runner: ScriptRunner = { root, timeoutMs, maxOutputBytes, env }
  const make = (hook: ScriptableHook): ScriptHook | undefined => {
    const given = scripts[hook]
    return given === undefined
      ? undefined
      : new ScriptHook(runner, hook, openScript(given, { root, allowOutside, interpreters, ...(check && { check }) }))
  }
  return { ...ofLoops(make), ...ofTurns(make), ...ofCalls(make), ...ofCompactions(make) }
}

type Make = (hook: ScriptableHook) => ScriptHook | undefined

/** A script bound to a hook. */
class ScriptHook {
  readonly #runner: ScriptRunner
  readonly #call: { hook: string; script: ScriptFile }

  constructor(runner: ScriptRunner, hook: string, script: ScriptFile) {
    this.#runner = runner
    this.#call = { hook, script }
  }

  /** Runs a `before…` script and returns its decision. */
  async decide(input: JsonObject, signal: AbortSignal): Promise<HookRefusal | undefined> {
    return readAnswer(await runScript(this.#runner, { ...this.#call, input, signal }), this.#call)
  }

  /** Runs an observing script. */
  async observe(input: JsonObject, signal?: AbortSignal): Promise<void> {
    await runScript(this.#runner, { ...this.#call, input, ...(signal !== undefined && { signal }) })
  }
}

function ofLoops(make: Make): LoopHooks {
  const [before, after] = [make('beforeLoop'), make('afterLoop')]
  return {
    ...(before && {
      beforeLoop: ({ context: _, data: _data, messages, signal, ...origin }) => before.decide({ ...origin, ...countOf(messages) }, signal),
    }),
    // Do not use the run's signal, so that the script can finish even if the run was aborted.
    ...(after && {
      afterLoop: ({ context: _, data: _data, messages, usage, status, ...origin }) =>
        after.observe({ ...origin, ...countOf(messages), usage: { ...usage }, status }),
    }),
  }
}

function ofTurns(make: Make): LoopHooks {
  const [before, after, failed] = [make('beforeTurn'), make('afterTurn'), make('onError')]
  return {
    ...(before && {
      beforeTurn: ({ context: _, data: _data, messages, signal, ...info }) => before.decide({ ...info, ...countOf(messages) }, signal),
    }),
    ...(after && {
      afterTurn: ({ context: _, data: _data, messages, message, toolResults, usage, signal, ...info }) => {
        const { stopReason, content } = message
        const turn = { stopReason, ...shownText(textOf(content)), toolResultCount: toolResults.length, usage: { ...usage } }
        return after.observe({ ...info, ...countOf(messages), ...turn }, signal)
      },
    }),
    ...(failed && {
      onError: ({ context: _, data: _data, error: { code, message }, signal, ...info }) =>
        failed.observe({ ...info, error: { code, message } }, signal),
    }),
  }
}

function ofCalls(make: Make): LoopHooks {
  const [before, after] = [make('beforeToolExecution'), make('afterToolExecution')]
  const [beforeUpdate, afterUpdate] = [make('beforeToolExecutionUpdate'), make('afterToolExecutionUpdate')]
  return {
    ...(before && {
      beforeToolExecution: ({ context: _, data: _data, requestApproval: _request, signal, ...info }) => before.decide(info, signal),
    }),
    ...(after && {
      afterToolExecution: ({ context: _, data: _data, result, signal, ...info }) =>
        after.observe({ ...info, ...shownText(textOf(result.content)) }, signal),
    }),
    ...(beforeUpdate && { beforeToolExecutionUpdate: (info) => beforeUpdate.decide(updateOf(info), info.signal) }),
    ...(afterUpdate && { afterToolExecutionUpdate: (info) => afterUpdate.observe(updateOf(info), info.signal) }),
  }
}

function ofCompactions(make: Make): LoopHooks {
  const [before, after] = [make('beforeCompactionStart'), make('afterCompactionEnd')]
  return {
    ...(before && { beforeCompactionStart: ({ context: _, data: _data, signal, ...info }) => before.decide(info, signal) }),
    ...(after && { afterCompactionEnd: ({ context: _, data: _data, signal, ...info }) => after.observe(info, signal) }),
  }
}

function updateOf({
  context: _,
  data: _data,
  partialResult,
  signal: _signal,
  ...info
}: ToolHookInfo & { partialResult: ToolResult }): JsonObject {
  return { ...info, ...shownText(textOf(partialResult.content)) }
}

function countOf(messages: readonly AgentMessage[]): { messageCount: number } {
  return { messageCount: messages.length }
}

function shownText(text: string): { text: string; truncated?: true } {
  return text.length <= maxGiven ? { text } : { text: text.slice(0, maxGiven), truncated: true }
}
