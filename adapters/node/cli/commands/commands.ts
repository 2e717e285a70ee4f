import { ownOf } from '../../../../src/contract/json.ts'
import { meant } from '../../../../src/contract/shape/nearest-name.ts'
import { ConfigError } from '../../../../src/index.ts'
import { compact, mcp, model, models, permissions, skills, thinking, tools, usage } from './agent-commands.ts'
import { diff, undo } from './change-commands.ts'
import type { Command, CommandHost } from './command.ts'
import { clear, exportTo, resume, session, tree } from './session-commands.ts'
import { open, save } from './share-commands.ts'

const commands: Readonly<Record<string, Command>> = {
  help: { argument: '', help: 'this list', isAnytime: true, run: (host) => listCommands(host) },
  model,
  models,
  thinking,
  tools,
  skills,
  mcp,
  usage,
  permissions,
  diff,
  undo,
  compact,
  session,
  clear,
  resume,
  tree,
  export: exportTo,
  open,
  save,
  quit: { argument: '', help: 'leave; also /exit, Ctrl-D, Ctrl-C', isAnytime: true, run: (host) => host.leave() },
}

const aliases: Readonly<Record<string, string>> = { exit: 'quit' }

/** Names that begin like `line`, for completion. */
export function commandNames(line: string): string[] {
  if (!/^\/[a-z]*$/.test(line)) return []
  return [...Object.keys(commands), ...Object.keys(aliases)].map((name) => `/${name}`).filter((name) => name.startsWith(line))
}

/** Does what `line` says, which begins with `/`. Rejects with `ConfigError` for a name that is no command. */
export async function runCommand(host: CommandHost, line: string): Promise<void> {
  const [, word = '', argument = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? []
  const name = ownOf(aliases, word) ?? word
  const command = ownOf(commands, name)
  if (command === undefined) {
    const instead = meant(word, [...Object.keys(commands), ...Object.keys(aliases)])
    const hint = instead === undefined ? '' : `Did you mean /${instead}? `
    throw new ConfigError('invalidOption', `/${word.slice(0, 40)} is no command. ${hint}/help lists them.`)
  }
  if (host.isBusy && !command.isAnytime) throw new ConfigError('invalidOption', `/${name} has to wait: the agent works. Ctrl-C stops it.`)
  await command.run(host, argument.trim())
}

const keys = [
  'Enter while the agent works tells it something. Ctrl-C stops it; at an empty prompt it leaves.',
  'Alt-Enter, Ctrl-J or a backslash at the end: another line. @ names a file, ! runs a command. Tab completes.',
  'Shift-Tab: what is asked about. Ctrl-R: search what you said. Ctrl-G: your editor. Ctrl-O: all of the last result.',
]

function listCommands({ screen }: CommandHost): void {
  const { paint, plain } = screen.paint
  for (const [name, { argument, help }] of Object.entries(commands)) {
    screen.line(plain(`  ${`/${name} ${argument}`.padEnd(22)} ${help}`))
  }
  for (const line of keys) screen.line(paint('dim', `  ${line}`))
}
