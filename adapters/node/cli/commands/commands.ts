import { shortened } from '../../../../src/base/text/characters.ts'
import { ownOf } from '../../../../src/contract/json.ts'
import { meant } from '../../../../src/contract/shape/nearest-name.ts'
import { ConfigError } from '../../../../src/index.ts'
import { compact, mcp, model, models, permissions, skills, thinking, tools, usage } from './agent-commands.ts'
import { diff, undo } from './change-commands.ts'
import type { Command, CommandHost } from './command.ts'
import { clear, exportTo, resume, session, tree } from './session-commands.ts'
import { open, save } from './share-commands.ts'

const commands: Readonly<Record<string, Command>> = {
  help: { argument: '', help: 'show this list', isAnytime: true, run: (host) => listCommands(host) },
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

/** Returns command names that start with `line`, for completion. */
export function commandNames(line: string): string[] {
  if (!/^\/[a-z]*$/.test(line)) return []
  return [...Object.keys(commands), ...Object.keys(aliases)].map((name) => `/${name}`).filter((name) => name.startsWith(line))
}

/**
 * Runs the slash command in `line`: a phi command, or `/server:prompt` for an MCP prompt. Rejects with `ConfigError` for an unknown name.
 */
export async function runCommand(host: CommandHost, line: string): Promise<void> {
  const [, word = '', argument = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? []
  const name = ownOf(aliases, word) ?? word
  const command = ownOf(commands, name)
  if (command === undefined && word.includes(':')) return runPrompt(host, word, argument)
  if (command === undefined) {
    const instead = meant(word, [...Object.keys(commands), ...Object.keys(aliases)])
    const hint = instead === undefined ? '' : `Did you mean /${instead}? `
    throw new ConfigError('invalidOption', `/${word.slice(0, 40)} is not a command. ${hint}/help lists the commands.`)
  }
  if (host.isBusy && !command.isAnytime)
    throw new ConfigError('invalidOption', `/${name} is not available while the agent works. Ctrl-C stops it.`)
  await command.run(host, argument.trim())
}

/** Sends an MCP prompt's messages. */
async function runPrompt(host: CommandHost, word: string, argument: string): Promise<void> {
  const check = () => {
    if (host.isBusy) throw new ConfigError('invalidOption', `/${word} is not available while the agent works. Ctrl-C stops it.`)
  }
  check()
  const messages = await host.assistant.servers.messages(`/${word} ${argument}`)
  check()
  host.begin(host.assistant.agent.send(messages))
}

/** Returns the help lines for MCP prompts. */
const mostPrompts = 30

const oneLineOf = (text: string): string => shortened(text.replaceAll(/\s+/g, ' ').trim(), 100)

const keys = [
  'Enter while the agent works sends a steering message. Ctrl-C stops the agent; at an empty prompt it exits.',
  'Alt-Enter, Ctrl-J or a final backslash: new line. @ attaches a file, @server:uri a resource of an MCP server, ! runs a command. Tab completes.',
  'Shift-Tab: approval mode. Ctrl-R: search your prompts. Ctrl-G: open your editor. Ctrl-O: show the whole last result.',
]

async function listCommands({ screen, assistant: { servers } }: CommandHost): Promise<void> {
  const { paint, plain } = screen.paint
  for (const [name, { argument, help }] of Object.entries(commands)) {
    screen.line(plain(`  ${`/${name} ${argument}`.padEnd(22)} ${help}`))
  }
  await servers.load()
  const prompts = servers.commands
  for (const { command, usage, description = '' } of prompts.slice(0, mostPrompts)) {
    screen.line(plain(`  ${`${command} ${usage}`.padEnd(22)} ${oneLineOf(description)}`))
  }
  if (prompts.length > mostPrompts) screen.line(paint('dim', `  … ${prompts.length - mostPrompts} more prompts of MCP servers`))
  for (const line of keys) screen.line(paint('dim', `  ${line}`))
}
