import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path'
import { isWithin } from '../policy/programs.ts'
import { scriptName } from '../script-hooks/script-file.ts'
import { CodeFiles } from './code-files.ts'

/** How a server is started. */
export interface Command {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** Absolute. */
  cwd: string
}

/** Runs what this file says, in the directory where it is called. */
const orders: Readonly<Record<string, string>> = {
  ...{ npm: 'package.json', yarn: 'package.json', pnpm: 'package.json', bun: 'package.json', deno: 'deno.json', make: 'Makefile' },
}

/** Their first argument is a script, whatever it is called. */
const interpreters = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|lua|java|(?:ba|da|z|k)?sh)(?:\.exe)?$/i

/** Words without anything that a shell, or a reader, may take for something else. */
const plain = /^[\w@%+=:,./-]+$/
/** Variables that make Node, or the system's loader, load something. */
const loadingVariable = /^(?:NODE_|LD_|DYLD_|OPENSSL_|PATH$)/i

/** The code of a server that lies in files that its words name, also within a command of a shell. */
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

/** The code of a hook: its script alone runs, from a copy. */
export async function codeOfScript(given: string, cwd: string): Promise<CodeFiles> {
  const files = new CodeFiles()
  await files.addRun(resolve(realPath(cwd), scriptName(given).path))
  return files
}

/** The code of a plugin: its module, and what that imports by a literal relative path. */
export async function codeOfPlugin(path: string): Promise<CodeFiles> {
  const files = new CodeFiles()
  await files.addRun(path)
  if (/\.[jt]s$/.test(path)) await files.addTypeOf(path)
  return files
}

/** As {@link unknownOfServer}, for a plugin. */
export function unknownOfPlugin(written: string, files: CodeFiles): string | undefined {
  return plain.test(written) ? files.unknown : `${JSON.stringify(written)} is no plain word`
}

/**
 * Why nobody can know all that a server loads; undefined for `node` with one script in a file, whose imports all the way down are literal and either
 * relative or `node:`. `written` is the command as the file says it, before variables are filled in.
 */
export function unknownOfServer(written: Command, files: CodeFiles, root: string): string | undefined {
  const { command, args, env } = written
  const odd = [command, ...args].find((word) => !plain.test(word))
  if (odd !== undefined) return `${JSON.stringify(odd)} is no plain word`
  if (basename(command).replace(/\.exe$/i, '') !== 'node') return `${command} may run anything`
  const program = programOf(command)
  if (program === undefined || isWithin(root, program)) return `${command} is no program of this machine outside of ${root}`
  const [script = ''] = args
  if (script.startsWith('-') || !/\.[cm]?js$/.test(script)) return `node ${script} names no script`
  const variable = Object.keys(env).find((name) => loadingVariable.test(name))
  return variable === undefined ? files.unknown : `the variable ${variable} decides what is loaded`
}

/** As {@link unknownOfServer}, for a hook: a script for Node, or of a shell whose commands run nothing else. */
export function unknownOfScript(written: string, files: CodeFiles): string | undefined {
  const { path, interpreter } = scriptName(written)
  if (!plain.test(path)) return `${JSON.stringify(path)} is no plain word`
  const isModule = interpreter === 'node' && /\.[cm]?js$/.test(path)
  const isShell = interpreter !== 'node' && interpreter !== 'python3' && /\.(?:sh|bash)$/.test(path)
  return isModule || isShell ? files.unknown : `${path} is no script of a shell or for Node, by its name`
}

/** The directory, or file, of a path of an agent file. */
export function absolute(root: string, path: string): string {
  return resolve(root, path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path)
}

/** The real path, or the path itself where there is nothing. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The real path of a program on the path of programs. */
function programOf(command: string): string | undefined {
  const places = isAbsolute(command) ? [command] : (process.env.PATH ?? '').split(delimiter).map((folder) => resolve(folder, command))
  if (!isAbsolute(command) && /[\\/]/.test(command)) return undefined
  for (const place of places) {
    try {
      return realpathSync(place)
    } catch {
      // The next one.
    }
  }
  return undefined
}
