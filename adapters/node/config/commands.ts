import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path'
import { isWithin } from '../policy/programs.ts'
import { scriptName } from '../script-hooks/script-file.ts'
import { CodeFiles } from './code-files.ts'

/** A server's start command. */
export interface Command {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** The absolute path. */
  cwd: string
}

/** Programs that run commands from a file in the working directory. */
const orders: Readonly<Record<string, string>> = {
  ...{ npm: 'package.json', yarn: 'package.json', pnpm: 'package.json', bun: 'package.json', deno: 'deno.json', make: 'Makefile' },
}

/** Programs whose first argument is a script, regardless of its name. */
const interpreters = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|lua|java|(?:ba|da|z|k)?sh)(?:\.exe)?$/i

/** Words without characters that are special in a shell. */
const plain = /^[\w@%+=:,./-]+$/
/** Environment variables that make Node or the system loader load code. */
const loadingVariable = /^(?:NODE_|LD_|DYLD_|OPENSSL_|PATH$)/i

/** Returns the code files in the words of a server command, including nested shell commands. */
export async function codeOfServer({ command, args, env, cwd }: Command): Promise<CodeFiles> {
  const files = new CodeFiles()
  const home = realPath(cwd)
  const script = interpreters.test(basename(command)) ? args.find((arg) => !arg.startsWith('-')) : undefined
  const order = orders[basename(command)]
  for (const run of [/[\\/]/.test(command) ? command : undefined, script, order]) {
    if (run !== undefined) await files.addRun(resolve(home, run))
  }
  for (const word of new Set([...args, ...Object.values(env)].flatMap(partsOf))) await files.addWord(resolve(home, word))
  return files
}

function partsOf(word: string): string[] {
  return [word, ...word.split(/[\s='"`$();|&<>]+/)].filter((part) => part !== '')
}

/** Returns the code of a hook: its script, which runs from a copy. */
export async function codeOfScript(given: string, cwd: string): Promise<CodeFiles> {
  const files = new CodeFiles()
  await files.addRun(resolve(realPath(cwd), scriptName(given).path))
  return files
}

/** Returns the code of a plugin: its module and the literal relative imports. */
export async function codeOfPlugin(path: string): Promise<CodeFiles> {
  const files = new CodeFiles()
  await files.addRun(path)
  if (/\.[jt]s$/.test(path)) await files.addTypeOf(path)
  return files
}

/** Like {@link unknownOfServer}, for a plugin. */
export function unknownOfPlugin(written: string, files: CodeFiles): string | undefined {
  return plain.test(written) ? files.unknown : `${JSON.stringify(written)} is not a plain word`
}

/**
 * Returns why the code of a server is not fully known. Returns `undefined` only for `node` with one script file whose imports, at every
 * level, are literal and either relative or `node:`. `written` is the command before variables are filled in.
 */
export function unknownOfServer(written: Command, files: CodeFiles, root: string): string | undefined {
  const { command, args, env } = written
  const odd = [command, ...args].find((word) => !plain.test(word))
  if (odd !== undefined) return `${JSON.stringify(odd)} is not a plain word`
  if (basename(command).replace(/\.exe$/i, '') !== 'node') return `${command} may run anything`
  const program = programOf(command)
  if (program === undefined || isWithin(root, program)) return `${command} is not a program on this machine outside ${root}`
  const [script = ''] = args
  if (script.startsWith('-') || !/\.[cm]?js$/.test(script)) return `node ${script} names no script`
  const variable = Object.keys(env).find((name) => loadingVariable.test(name))
  return variable === undefined ? files.unknown : `the variable ${variable} decides what is loaded`
}

/** Like {@link unknownOfServer}, for a hook: a Node script, or a shell script whose commands run no other file. */
export function unknownOfScript(written: string, files: CodeFiles): string | undefined {
  const { path, interpreter } = scriptName(written)
  if (!plain.test(path)) return `${JSON.stringify(path)} is not a plain word`
  const isModule = interpreter === 'node' && /\.[cm]?js$/.test(path)
  const isShell = interpreter !== 'node' && interpreter !== 'python3' && /\.(?:sh|bash)$/.test(path)
  return isModule || isShell ? files.unknown : `${path} does not have the name of a shell or Node script`
}

/** Resolves a path in an agent file. */
export function absolute(root: string, path: string): string {
  return resolve(root, path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path)
}

/** Returns the real path, or the path itself if it does not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Returns the real path of a program in `PATH`. */
function programOf(command: string): string | undefined {
  const places = isAbsolute(command) ? [command] : (process.env.PATH ?? '').split(delimiter).map((folder) => resolve(folder, command))
  if (!isAbsolute(command) && /[\\/]/.test(command)) return undefined
  for (const place of places) {
    try {
      return realpathSync(place)
    } catch {
      // Try the next folder.
    }
  }
  return undefined
}
