import { parsedJson } from '../../../src/base/json/json-value.ts'
import { shortened } from '../../../src/base/text/characters.ts'
import { isObject } from '../../../src/contract/json.ts'
import type { JsonObject } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'
import type { HookRefusal } from '../../../src/types/run/hooks.ts'
import { systemPath } from '../policy/programs.ts'
import { runProcess } from '../process/run-process.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { type ScriptFile, ScriptHookError, type ScriptHookErrorCode, withCopy } from './script-file.ts'

/** Settings for the scripts in one set of hooks. */
export interface ScriptRunner {
  /** Working directory. */
  root: string
  timeoutMs: number
  maxOutputBytes: number
  env: Readonly<Record<string, string>>
}

/** One call of a script. */
export interface ScriptCall {
  /** Hook name. */
  hook: string
  script: ScriptFile
  /** JSON for the script's standard input. */
  input: JsonObject
  /** Aborting kills the script. Without a signal, only the timeout does. */
  signal?: AbortSignal
}

/** Maximum characters of script output in a message. */
const maxShown = 1000

/** The only environment variables of this process that scripts inherit. */
const inherited = ['HOME', 'LANG', 'TMPDIR']

/**
 * Runs a script until it exits. Resolves with its standard output.
 *
 * **Contract**
 * - Runs in its own process group. The group has exited when this settles; on Linux, also processes that left the group.
 * - Rejects with `ScriptHookError` unless the script exits with code 0 within its time and output limits. Rejects with the signal's reason.
 */
export async function runScript(runner: ScriptRunner, { hook, script, input, signal }: ScriptCall): Promise<string> {
  signal?.throwIfAborted()
  return withCopy(script, async (copy) => {
    signal?.throwIfAborted()
    const flood = new AbortController()
    const out = new Collected(runner.maxOutputBytes, () => flood.abort())
    const complaint = new Collected(4 * maxShown, () => undefined)
    const id = crypto.randomUUID()
    const failed = (code: ScriptHookErrorCode, why: string, cause?: unknown) => {
      const stderrText = shown(complaint.text)
      return new ScriptHookError(code, `The script ${script.name} (${hook}) ${why}${stderrText === '' ? '.' : `: ${stderrText}`}`, {
        cause,
      })
    }
    const end = await runProcess({
      file: script.interpreter,
      args: [copy],
      env: { ...environment(), ...runner.env, PHI_HOOK: hook, PHI_HOOK_SCRIPT: script.path, PHI_CORE_RUN: id },
      mark: `PHI_CORE_RUN=${id}`,
      cwd: runner.root,
      stdin: new TextEncoder().encode(`${JSON.stringify({ hook, ...input })}\n`),
      timeoutMs: runner.timeoutMs,
      signal: signal === undefined ? flood.signal : AbortSignal.any([signal, flood.signal]),
      onStdout: (chunk) => out.add(chunk),
      onStderr: (chunk) => complaint.add(chunk),
    }).catch((error: unknown) => {
      throw failed('notStarted', `cannot be started (${systemCode(error) ?? 'unknown'})`, error)
    })
    signal?.throwIfAborted()
    if (out.isFull) throw failed('flood', `wrote more than ${runner.maxOutputBytes} bytes, and was killed`)
    if (end.reason === 'timeout') throw failed('timeout', `did not end within ${runner.timeoutMs} ms, and was killed`)
    if (end.exitCode !== 0) throw failed('failed', end.exitCode === -1 ? 'was ended by a signal' : `ended with code ${end.exitCode}`)
    return out.text
  })
}

/**
 * Reads a `before…` script's decision: empty output or `{"allow": true}` allows, `{"allow": false, "reason": "…"}` denies. Throws
 * `ScriptHookError` `badAnswer` for any other output, so unclear output never allows.
 */
export function readAnswer(text: string, { hook, script }: Pick<ScriptCall, 'hook' | 'script'>): HookRefusal | undefined {
  if (text.trim() === '') return undefined
  const bad = () =>
    new ScriptHookError(
      'badAnswer',
      `The script ${script.name} (${hook}) must write {"allow": true}, {"allow": false, "reason": "…"} or nothing. It wrote: ${shown(text)}`,
    )
  const answer = parsedJson(text)
  if (!isObject(answer)) throw bad()
  const { allow, reason, ...others }: { allow?: unknown; reason?: unknown } = answer
  if (typeof allow !== 'boolean' || Object.keys(others).length > 0) throw bad()
  if (reason !== undefined && typeof reason !== 'string') throw bad()
  if (allow) return undefined
  return reason === undefined ? { allow } : { allow, reason: shown(reason) }
}

function environment(): Record<string, string> {
  const own = inherited.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { PATH: systemPath, ...Object.fromEntries(own) }
}

/** Returns the beginning of a text for messages. */
function shown(text: string): string {
  const cut = escapeControls(text.trim())
  return shortened(cut, maxShown)
}

/** Collects output up to a limit and drops the rest. */
class Collected {
  readonly #chunks: Uint8Array[] = []
  readonly #limit: number
  readonly #onFull: () => void
  #length = 0
  isFull = false

  constructor(limit: number, onFull: () => void) {
    this.#limit = limit
    this.#onFull = onFull
  }

  add(chunk: Uint8Array): void {
    if (this.isFull) return
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length <= this.#limit) return
    this.isFull = true
    this.#onFull()
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}
