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
 * Why a script did not do its part. `changed`: the file is gone, or no longer what it was when the hooks were made; `failed`: it ended with another
 * code than 0, or by a signal; `timeout`; `flood`: it wrote too much; `badAnswer`: what it wrote is no answer; `notStarted`: its interpreter did not.
 */
export type ScriptHookErrorCode = 'changed' | 'failed' | 'timeout' | 'flood' | 'badAnswer' | 'notStarted'

/** A script that failed as a hook: a `before…` hook refuses then, an observer is logged. Source: docs/reference/hooks.md */
export class ScriptHookError extends PhiError<ScriptHookErrorCode> {
  override readonly name = 'ScriptHookError'

  static override isInstance(value: unknown): value is ScriptHookError {
    return PhiError.isInstance(value) && value.name === 'ScriptHookError'
  }
}

/** Programs that run scripts, as absolute paths. Each defaults to the first one in the system's own directories. */
export interface Interpreters {
  sh?: string
  bash?: string
  python3?: string
  node?: string
}

/** A script as it was when the hooks were made. */
export interface ScriptFile {
  /** As it was given, for people. */
  name: string
  /** Where it lies, absolute. */
  path: string
  /** What it must lie in. */
  within: string
  /** Absolute. */
  interpreter: string
  bytes: Uint8Array
}

/** Where scripts may lie, and what runs them. */
export interface ScriptPlaces {
  /** Real path. */
  root: string
  allowOutside: boolean
  interpreters: Interpreters
  /** Throws for a script that is not what was agreed to. Default: whatever is there is taken. */
  check?: CheckScript
}

/** Looks at a script before it becomes a hook: where it lies, and what is in it. */
export type CheckScript = (path: string, bytes: Uint8Array) => void

/** Bytes of a script. */
const maxScript = 1024 * 1024

const byExtension: ReadonlyMap<string, keyof Interpreters> = new Map([
  ['.py', 'python3'],
  ['.bash', 'bash'],
  ['.js', 'node'],
  ['.cjs', 'node'],
  ['.mjs', 'node'],
])

/** `python3 hooks/after.py` says it, whatever the extension. */
const named = /^(sh|bash|python3|node)\s+(\S.*)$/

/** The path of a script as it was given, and what runs it: the interpreter before the path, or that of its extension. */
export function scriptName(given: string): { path: string; interpreter: keyof Interpreters } {
  const [, chosen, path = given] = named.exec(given) ?? []
  return { path, interpreter: (chosen as keyof Interpreters | undefined) ?? byExtension.get(extname(path).toLowerCase()) ?? 'sh' } // the pattern has no others
}

/**
 * The script that `given` means: a path, relative to the root, or one after the name of an interpreter.
 *
 * Throws `ConfigError` `invalidOption` for one that is not there, no regular file, larger than 1 MiB, or outside of the root without
 * `allowOutside`, itself or through a link; and where there is no interpreter.
 */
export function openScript(given: string, { root, allowOutside, interpreters, check }: ScriptPlaces): ScriptFile {
  const { path: rest, interpreter: name } = scriptName(given)
  const path = resolve(root, rest)
  const elsewhere = `it must be a path relative to ${root} and lie in it; allowOutside allows others`
  if (!allowOutside && (isAbsolute(rest) || !isWithin(root, path))) throw refused(given, elsewhere)
  const real = realPathOf(path)
  if (real === undefined) throw refused(given, 'there is no such file')
  if (!allowOutside && !isWithin(root, real)) throw refused(given, elsewhere)
  const stats = statSync(real)
  if (!stats.isFile()) throw refused(given, 'it is no regular file')
  if (stats.size > maxScript) throw refused(given, `it has ${stats.size} bytes; at most ${maxScript} are run`)
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
 * Runs `use` with a private copy of the script, and removes it afterwards. Tools may write where the script lies: it must still be what it was, and
 * nobody can change it between this look and its start. Rejects with `ScriptHookError` `changed` where it is not.
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
  const advice = 'It is not run. Look at it, and make the hooks again.'
  return new ScriptHookError('changed', `The script ${name} is not what it was when the hooks were made: ${why}. ${advice}`, { cause })
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Throws `ConfigError` where the copies would lie where tools write. */
export function checkCopies(root: string): void {
  const place = realPathOf(tmpdir())
  if (place !== undefined && !isWithin(root, place)) return
  throw new ConfigError(
    'invalidOption',
    `Scripts cannot be run: the directory for temporary files, ${tmpdir()}, is missing or lies in ${root}. Set TMPDIR.`,
  )
}
