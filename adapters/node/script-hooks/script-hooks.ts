import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFlag, aPositiveNumber, aText, options as optionsOf, required, texts, wholeFrom } from '../../../src/contract/shape/shape.ts'
import { type AgentMessage, type JsonObject, type ToolResult, textOf } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import type { HookRefusal, ToolHookInfo } from '../../../src/types/run/hooks.ts'
import type { HookScripts, ScriptableHook } from '../../../src/types/run/turn.ts'
import { realDirectory } from '../policy/root.ts'
import { readAnswer, runScript, type ScriptRunner } from './run-script.ts'
import { type CheckScript, checkCopies, type Interpreters, openScript, type ScriptFile } from './script-file.ts'

/** Which scripts are hooks, and how they run. Source: docs/reference/hooks.md */
export interface ScriptHookOptions {
  /** Their paths are relative to `root`. */
  scripts: HookScripts
  /** The directory the scripts lie and work in. */
  root: string
  /** Also takes scripts that lie elsewhere. Default `false`. */
  allowOutside?: boolean
  /** Milliseconds for one call. Default 10,000. */
  timeoutMs?: number
  /** Bytes a script may write in one call. Default 65,536. */
  maxOutputBytes?: number
  /** Variables the scripts get beside PATH, HOME, LANG and TMPDIR. */
  env?: Record<string, string>
  /** Programs to use in place of the system's own. */
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

/** Characters of a result or an answer that a script is given. */
const maxGiven = 65_536

/**
 * Hooks that are scripts: each call starts one, gives it JSON on its standard input, and waits for its end.
 *
 * **Contract**
 * - A `before…` script allows by ending with code 0 and writing nothing or `{"allow": true}`; `{"allow": false, "reason": "…"}` refuses.
 *   Everything else refuses too, and is logged as `hookFailed`: another code, a signal, no end in time, too much output, another text.
 * - The other scripts only observe: how they fail is logged as `hookFailed`, and the run goes on.
 * - A script is read when this is called. One that is gone or changed later is not run: a tool may have written it.
 * - Scripts run on the host, outside of every sandbox, with the rights of this process and a minimal environment. Their process group is
 *   killed when they end, when their time is up, and when the run is stopped.
 *
 * Throws `ConfigError` `invalidOption` for a script that cannot be used. Source: docs/reference/hooks.md
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

/** As {@link scriptHooks}, of scripts that pass `check`: what was agreed to is what runs. */
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

/** One script at its place. */
class ScriptHook {
  readonly #runner: ScriptRunner
  readonly #call: { hook: string; script: ScriptFile }

  constructor(runner: ScriptRunner, hook: string, script: ScriptFile) {
    this.#runner = runner
    this.#call = { hook, script }
  }

  /** What a `before…` script decides. */
  async decide(input: JsonObject, signal: AbortSignal): Promise<HookRefusal | undefined> {
    return readAnswer(await runScript(this.#runner, { ...this.#call, input, signal }), this.#call)
  }

  /** Tells a script that only observes. */
  async tell(input: JsonObject, signal?: AbortSignal): Promise<void> {
    await runScript(this.#runner, { ...this.#call, input, ...(signal !== undefined && { signal }) })
  }
}

function ofLoops(make: Make): LoopHooks {
  const [before, after] = [make('beforeLoop'), make('afterLoop')]
  return {
    ...(before && { beforeLoop: ({ messages, signal, ...origin }) => before.decide({ ...origin, ...countOf(messages) }, signal) }),
    // Also the script of a run that was stopped may do its work.
    ...(after && {
      afterLoop: ({ messages, usage, status, ...origin }) => after.tell({ ...origin, ...countOf(messages), usage: { ...usage }, status }),
    }),
  }
}

function ofTurns(make: Make): LoopHooks {
  const [before, after, failed] = [make('beforeTurn'), make('afterTurn'), make('onError')]
  return {
    ...(before && { beforeTurn: ({ messages, signal, ...info }) => before.decide({ ...info, ...countOf(messages) }, signal) }),
    ...(after && {
      afterTurn: ({ messages, message, toolResults, usage, signal, ...info }) => {
        const { stopReason, content } = message
        const told = { stopReason, ...shownText(textOf(content)), toolResultCount: toolResults.length, usage: { ...usage } }
        return after.tell({ ...info, ...countOf(messages), ...told }, signal)
      },
    }),
    ...(failed && {
      onError: ({ error: { code, message }, signal, ...info }) => failed.tell({ ...info, error: { code, message } }, signal),
    }),
  }
}

function ofCalls(make: Make): LoopHooks {
  const [before, after] = [make('beforeToolExecution'), make('afterToolExecution')]
  const [beforeUpdate, afterUpdate] = [make('beforeToolExecutionUpdate'), make('afterToolExecutionUpdate')]
  return {
    ...(before && {
      beforeToolExecution: ({ requestApproval: _, signal, ...info }) => before.decide(info, signal),
    }),
    ...(after && {
      afterToolExecution: ({ result, signal, ...info }) => after.tell({ ...info, ...shownText(textOf(result.content)) }, signal),
    }),
    ...(beforeUpdate && { beforeToolExecutionUpdate: (info) => beforeUpdate.decide(updateOf(info), info.signal) }),
    ...(afterUpdate && { afterToolExecutionUpdate: (info) => afterUpdate.tell(updateOf(info), info.signal) }),
  }
}

function ofCompactions(make: Make): LoopHooks {
  const [before, after] = [make('beforeCompactionStart'), make('afterCompactionEnd')]
  return {
    ...(before && { beforeCompactionStart: ({ signal, ...info }) => before.decide(info, signal) }),
    ...(after && { afterCompactionEnd: ({ signal, ...info }) => after.tell(info, signal) }),
  }
}

function updateOf({ partialResult, signal: _, ...info }: ToolHookInfo & { partialResult: ToolResult }): JsonObject {
  return { ...info, ...shownText(textOf(partialResult.content)) }
}

function countOf(messages: readonly AgentMessage[]): { messageCount: number } {
  return { messageCount: messages.length }
}

function shownText(text: string): { text: string; truncated?: true } {
  return text.length <= maxGiven ? { text } : { text: text.slice(0, maxGiven), truncated: true }
}
