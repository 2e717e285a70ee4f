import { readFileSync, realpathSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, extname, isAbsolute, join, resolve } from 'node:path'
import { ConfigError, PhiError } from '../../../src/index.ts'
import { WorkspaceError } from '../../../src/tools.ts'
import { hostProgram, isWithin } from '../policy/programs.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { holding } from '../workspace/pin.ts'
import { readHeld } from '../workspace/read.ts'

/**
 * The reason of a {@link ScriptHookError}. `changed`: the file was removed or modified after the hooks were created. `failed`: it exited
 * with a code other than 0, or by a signal. `timeout`: it ran too long. `flood`: it wrote too much output. `badAnswer`: invalid output.
 * `notStarted`: the interpreter did not start.
 */
export type ScriptHookErrorCode = 'changed' | 'failed' | 'timeout' | 'flood' | 'badAnswer' | 'notStarted'

/**
 * Thrown when a script hook fails. A `before…` hook then denies the call. An observer's failure is logged. Source: docs/reference/hooks.md
 */
export class ScriptHookError extends PhiError<ScriptHookErrorCode> {
  override readonly name = 'ScriptHookError'

  static override isInstance(value: unknown): value is ScriptHookError {
    return PhiError.isInstance(value) && value.name === 'ScriptHookError'
  }
}

/** Absolute paths of script interpreters. Default: the first match in the system directories. */
export interface Interpreters {
  sh?: string
  bash?: string
  python3?: string
  node?: string
}

/** A script with its content at the time the hooks were created. */
export interface ScriptFile {
  /** The path as given, for messages. */
  name: string
  /** The absolute path. */
  path: string
  /** The directory that must contain it. */
  within: string
  /** An absolute path. */
  interpreter: string
  bytes: Uint8Array
}

/** The allowed locations and interpreters of scripts. */
export interface ScriptPlaces {
  /** The real path of the root. */
  root: string
  allowOutside: boolean
  interpreters: Interpreters
  /** Throws if a script is not the trusted one. Default: every script passes. */
  check?: CheckScript
}

/** Checks path and content of a script before it becomes a hook. */
export type CheckScript = (path: string, bytes: Uint8Array) => void

/** Maximum script size in bytes. */
const maxScript = 1024 * 1024

const byExtension: ReadonlyMap<string, keyof Interpreters> = new Map([
  ['.py', 'python3'],
  ['.bash', 'bash'],
  ['.js', 'node'],
  ['.cjs', 'node'],
  ['.mjs', 'node'],
])

/** Matches an explicit interpreter, as in `python3 hooks/after.py`. */
const named = /^(sh|bash|python3|node)\s+(\S.*)$/

/** Splits a script setting into path and interpreter. Without an explicit interpreter, the file extension determines it. */
export function scriptName(given: string): { path: string; interpreter: keyof Interpreters } {
  const [, chosen, path = given] = named.exec(given) ?? []
  return { path, interpreter: (chosen as keyof Interpreters | undefined) ?? byExtension.get(extname(path).toLowerCase()) ?? 'sh' } // the pattern matches no other names
}

/**
 * Opens the script that a setting names: a path relative to the root, optionally after an interpreter name.
 *
 * Throws `ConfigError` `invalidOption` if the script is missing, not a regular file, larger than 1 MiB, outside the root without
 * `allowOutside` (also through a link), or if its interpreter is missing.
 */
export function openScript(given: string, { root, allowOutside, interpreters, check }: ScriptPlaces): ScriptFile {
  const { path: rest, interpreter: name } = scriptName(given)
  const path = resolve(root, rest)
  const elsewhere = `it must be a relative path within ${root}, unless allowOutside is set`
  if (!allowOutside && (isAbsolute(rest) || !isWithin(root, path))) throw refused(given, elsewhere)
  const real = realPathOf(path)
  if (real === undefined) throw refused(given, 'there is no such file')
  if (!allowOutside && !isWithin(root, real)) throw refused(given, elsewhere)
  const stats = statSync(real)
  if (!stats.isFile()) throw refused(given, 'it is not a regular file')
  if (stats.size > maxScript) throw refused(given, `it has ${stats.size} bytes, but the limit is ${maxScript}`)
  const interpreter = hostProgram(name, root, interpreters[name])
  if (interpreter === undefined) throw refused(given, `the system has no ${name} outside of ${root}; pass interpreters.${name}`)
  const bytes = readFileSync(real)
  check?.(path, bytes)
  return { name: rest, path, within: allowOutside ? '/' : root, interpreter, bytes }
}

function refused(given: string, why: string): ConfigError {
  return new ConfigError('invalidOption', `Cannot use ${JSON.stringify(given)} as a script: ${why}.`)
}

/**
 * Runs `use` with a private copy of the script and removes the copy afterwards. The copy prevents a change between check and start, because
 * tools may write to the original. Rejects with `ScriptHookError` `changed` if the content changed.
 */
export async function withCopy<T>(script: ScriptFile, use: (copy: string) => Promise<T>): Promise<T> {
  const bytes = await readAgain(script)
  if (Buffer.compare(bytes, script.bytes) !== 0) throw changed(script, 'its content has changed')
  const directory = await mkdtemp(join(tmpdir(), 'phi-hook-'))
  try {
    const copy = join(directory, basename(script.path))
    await writeFile(copy, script.bytes, { flag: 'wx', mode: 0o600 })
    return await use(copy)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function readAgain({ within, path, name, bytes }: ScriptFile): Promise<Uint8Array> {
  try {
    return await holding(within, path, name, (pinned) => readHeld(pinned, name, 0, bytes.length + 1))
  } catch (error) {
    const why = WorkspaceError.isInstance(error)
      ? error.message.replace(/\.$/, '')
      : `it cannot be read (${systemCode(error) ?? 'unknown'})`
    throw changed({ name }, why, error)
  }
}

function changed({ name }: Pick<ScriptFile, 'name'>, why: string, cause?: unknown): ScriptHookError {
  const advice = 'It did not run. Review it, then create the hooks again.'
  return new ScriptHookError('changed', `The script ${name} changed after the hooks were created: ${why}. ${advice}`, { cause })
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Throws `ConfigError` if tools could write to the copies. */
export function checkCopies(root: string): void {
  const place = realPathOf(tmpdir())
  if (place !== undefined && !isWithin(root, place)) return
  throw new ConfigError(
    'invalidOption',
    `Cannot run scripts: the temporary directory ${tmpdir()} is missing or inside ${root}. Set TMPDIR to another directory.`,
  )
}
