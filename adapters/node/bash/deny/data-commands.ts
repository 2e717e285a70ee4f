import { isLiteral, type ShellWord, textOf } from './shell-word.ts'

const listOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

/** Programs that run nothing their words say, and do not write their words anywhere. */
const silent = listOf(
  ': true false [ [[ test cd pushd popd pwd mkdir rmdir rm cp mv ln touch chmod chown chgrp sleep wait exit return break continue shift kill',
)

/** Programs that run nothing their words say, but may write them to their output. */
const speaking = listOf(
  `echo printf cat head tail tac nl wc grep egrep fgrep cut tr uniq comm cmp diff ls dir stat file du df seq date basename dirname realpath
  readlink which whereis whatis apropos uname whoami id tee base64 md5sum sha1sum sha256sum sha512sum jq unset`,
)

/** What git does without running a word of its command line. */
const gitData = listOf('add commit log show status tag branch stash')

/** What a command does with its own words: `silent` and `speaking` run none of them. */
export function useOfWords(command: readonly ShellWord[]): 'silent' | 'speaking' | 'mayRun' {
  const [program, action] = command.map((word) => (isLiteral(word) ? textOf(word) : ''))
  const name = program?.replace(/^(?:\/usr)?\/bin\//, '') ?? ''
  if (silent.has(name)) return 'silent'
  return speaking.has(name) || (name === 'git' && gitData.has(action ?? '')) ? 'speaking' : 'mayRun'
}
