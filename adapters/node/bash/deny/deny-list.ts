import { type DeniedCommand, deniedCommand, isProgram, matches, useOfWords } from './denied-command.ts'
import { readShell, type ShellText } from './shell-reader.ts'
import { laterText, type ShellWord } from './shell-word.ts'

/**
 * Why a command line is rejected: it runs an entry's command, contains an entry's text, or contains the text and cannot be parsed
 * (`doubt`).
 */
export interface Denial {
  entry: string
  by: 'command' | 'text' | 'doubt'
}

/** Maximum characters of nested text to parse. Beyond it, entries match as text. */
const mostNested = 1_000_000

/**
 * Commands that a tool rejects.
 *
 * - An entry that is a single command is compared with every command in a line, including subshells, substitutions, functions and wrappers
 *   such as `sudo`. Other entries match as text.
 * - A line that cannot be parsed is rejected if it contains the text of an entry.
 */
export class DenyList {
  readonly #commands: readonly DeniedCommand[]
  readonly #texts: readonly string[]

  constructor(entries: readonly string[]) {
    const read = entries.map((entry) => ({ entry, command: deniedCommand(entry) }))
    this.#commands = read.flatMap(({ command }) => command ?? [])
    this.#texts = read.flatMap(({ entry, command }) => (command === undefined ? [entry] : []))
  }

  /** Returns the first reason to reject a command line, or `undefined` if there is none. */
  denialOf(line: string): Denial | undefined {
    const text = this.#texts.find((entry) => line.includes(entry) || withoutSpaces(line).includes(withoutSpaces(entry)))
    if (text !== undefined) return { entry: text, by: 'text' }
    if (this.#commands.length === 0) return undefined
    return this.#commandIn(line)
  }

  #commandIn(line: string): Denial | undefined {
    const seen = new Set([line])
    let length = 0
    // Include texts added in the loop.
    for (const text of seen) {
      const shell = readShell(text)
      const denial = this.#denialIn(shell) ?? (shell.isCertain ? undefined : this.#asText(text))
      if (denial !== undefined) return denial
      for (const nested of textsRunBy(shell)) {
        if (!seen.has(nested)) length += nested.length
        if (length > mostNested) return this.#asText(line)
        seen.add(nested)
      }
    }
    return undefined
  }

  #denialIn(shell: ShellText): Denial | undefined {
    for (const command of shell.commands) {
      const found = this.#commands.find((denied) => matches(denied, command))
      const behind = found ?? (mayRunWords(shell, command) ? this.#commands.find((denied) => isBehind(denied, command)) : undefined)
      if (behind !== undefined) return { entry: behind.entry, by: 'command' }
    }
    return undefined
  }

  #asText(text: string): Denial | undefined {
    const found = this.#commands.find(({ entry }) => oneSpaced(text).includes(oneSpaced(entry)))
    return found === undefined ? undefined : { entry: found.entry, by: 'doubt' }
  }
}

/** Returns whether a wrapper runs the command, as in `sudo rm -rf /`. Checks one position, because all later words count. */
function isBehind(denied: DeniedCommand, command: readonly ShellWord[]): boolean {
  const place = command.findIndex((word, index) => index > 0 && isProgram(word, denied.name))
  return place !== -1 && matches(denied, command.slice(place))
}

function isOnlyData({ commands, definesFunctions }: ShellText): boolean {
  return !definesFunctions && commands.every((command) => useOfWords(command) !== 'mayRun')
}

/** Returns whether the command, or a command that reads its output, may run its words. */
function mayRunWords(shell: ShellText, command: readonly ShellWord[]): boolean {
  const use = useOfWords(command)
  if (shell.definesFunctions) return true
  return use === 'mayRun' || (use === 'speaking' && shell.passesText && !isOnlyData(shell))
}

/** Returns nested texts that may be run as command lines, such as the argument of `sh -c`. */
function textsRunBy(shell: ShellText): string[] {
  if (isOnlyData(shell)) return []
  const words = shell.commands
    .filter((command) => mayRunWords(shell, command))
    .flatMap((command) => textsIn(command.map(({ parts }) => laterText(parts))))
  return [...shell.texts, ...words].filter((text) => isComposed.test(text))
}

const isComposed = /[\s;&|<>()$`'"\\{]/

function textsIn([_program, ...words]: readonly string[]): string[] {
  const composed = words.filter((word) => isComposed.test(word))
  if (composed.length === 0) return []
  // `eval` and `ssh` join their words. `env -S…` and `--to-command=…` contain the command in a word.
  const within = composed.flatMap((word) => [word, ...valuesIn(word), ...(/^-[^-]/.test(word) ? [word.slice(2)] : [])])
  return [...within, words.join(' ')]
}

function valuesIn(word: string): string[] {
  const at = word.indexOf('=')
  const last = word.lastIndexOf('=')
  return at === -1 ? [] : [word.slice(at + 1), ...(last === at ? [] : [word.slice(last + 1)])]
}

function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, '')
}

function oneSpaced(text: string): string {
  return text.replace(/\s+/g, ' ')
}
