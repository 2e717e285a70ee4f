import { readShell } from './shell-reader.ts'
import { canBe, isLiteral, pathForm, programWord, type ShellWord, textOf } from './shell-word.ts'

/** A deny-list entry that is a single command. Matches commands that run the same program with all of the entry's options and words. */
export interface DeniedCommand {
  entry: string
  name: string
  options: readonly string[]
  operands: readonly string[]
}

/** Entries with another first word, such as `DROP TABLE` or `--force`, are not commands. */
const plainName = /^[a-z][\w.+-]*$/

/** Parses an entry as a command. Returns `undefined` for an entry that matches as text. */
export function deniedCommand(entry: string): DeniedCommand | undefined {
  const { commands, texts, isCertain, passesText, definesFunctions } = readShell(entry)
  const [words, ...others] = commands
  if (words === undefined || others.length > 0 || texts.length > 0 || !isCertain || passesText || definesFunctions) return undefined
  const [name = '', ...rest] = words.map(textOf)
  // Words after an operator, such as `make &`, do not make a command either.
  if (!plainName.test(name) || !entry.trimStart().startsWith(name) || /[;&|<>]\s*$/.test(entry)) return undefined
  const given = rest.filter((word) => word !== '--')
  return { entry, name, options: given.filter(isOption), operands: given.filter((word) => !isOption(word)) }
}

/** Returns whether the words of a command, starting with the program, match the entry. */
export function matches({ name, options, operands }: DeniedCommand, [program, ...words]: readonly ShellWord[]): boolean {
  if (program === undefined || !isProgram(program, name)) return false
  const given = words.map(textOf).filter(isOption)
  const letters = new Set(given.flatMap(lettersOf))
  return (
    options.every((option) => hasOption(option, given, letters)) &&
    operands.every((operand) => words.some((word) => isOperand(word, operand)))
  )
}

/** `mkfs.ext4` is an `mkfs`. */
export function isProgram(word: ShellWord, name: string): boolean {
  const program = programWord(word)
  return canBe(program, name) || textOf(program).startsWith(`${name}.`)
}

function isOperand(word: ShellWord, operand: string): boolean {
  return operand.endsWith('=') ? pathForm(textOf(word)).startsWith(operand) : canBe(word, operand)
}

function isOption(word: string): boolean {
  return /^-[^-]|^--./.test(word)
}

/** Returns an option's letters: `r` and `f` for `-rf`, the first letter of a long option, and `r` for `-R`. */
function lettersOf(option: string): string[] {
  const letters = option.startsWith('--') ? option.slice(2, 3) : option.slice(1)
  return [...letters].map((letter) => (letter === 'R' ? 'r' : letter))
}

function hasOption(option: string, given: readonly string[], letters: ReadonlySet<string>): boolean {
  if (given.includes(option)) return true
  if (!option.startsWith('--')) return lettersOf(option).every((letter) => letters.has(letter))
  const [name = '', ...value] = option.split('=')
  if (value.length > 0) return false
  // A long option may be abbreviated, and may have a value.
  const isLong = given.some((word) => word.startsWith('--') && name.startsWith(word.split('=', 1)[0] ?? word))
  return isLong || given.some((word) => /^-[^-]/.test(word) && lettersOf(option).every((letter) => lettersOf(word).includes(letter)))
}

const listOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

/** Programs that neither run nor write their words. */
const silent = listOf(
  ': true false [ [[ test cd pushd popd pwd mkdir rmdir rm cp mv ln touch chmod chown chgrp sleep wait exit return break continue shift kill',
)

/** Programs that do not run their words, but may write them to their output. */
const speaking = listOf(
  `echo printf cat head tail tac nl wc grep egrep fgrep cut tr uniq comm cmp diff ls dir stat file du df seq date basename dirname realpath
  readlink which whereis whatis apropos uname whoami id tee base64 md5sum sha1sum sha256sum sha512sum jq unset`,
)

/** Git commands that do not run words from the command line. */
const gitData = listOf('add commit log show status tag branch stash')

/** How a command uses its words. `silent` and `speaking` commands do not run them. */
export function useOfWords(command: readonly ShellWord[]): 'silent' | 'speaking' | 'mayRun' {
  const [program, action] = command.map((word) => (isLiteral(word) ? textOf(word) : ''))
  const name = program?.replace(/^(?:\/usr)?\/bin\//, '') ?? ''
  if (silent.has(name)) return 'silent'
  return speaking.has(name) || (name === 'git' && gitData.has(action ?? '')) ? 'speaking' : 'mayRun'
}
