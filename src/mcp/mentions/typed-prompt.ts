import { ConfigError, errorText } from '../../contract/errors.ts'
import type { MessageInput } from '../../contract/message/message.ts'
import type { McpPrompt } from '../features/prompts.ts'
import type { OfferedPrompt, ServerLists } from './server-lists.ts'

/** Returns a prompt's command, such as `/files:review`. */
export function commandOf({ server, prompt }: OfferedPrompt): string {
  return `/${server}:${prompt.name}`
}

/** Returns a usage hint for a prompt's arguments, with optional arguments in brackets. */
export function usageOf({ arguments: args }: McpPrompt): string {
  return args.map(({ name, required }) => (required ? name : `[${name}]`)).join(' ')
}

/**
 * Returns the messages of the prompt `/server:name` with arguments as typed. Rejects with `ConfigError` for a prompt that cannot be used.
 */
export async function promptMessages(lists: ServerLists, typed: string): Promise<MessageInput[]> {
  await lists.load()
  const [, command = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(typed.trim()) ?? []
  const offered = lists.prompts.find((each) => commandOf(each) === command)
  if (offered === undefined) {
    const known = lists.prompts.map(commandOf).slice(0, 5).join(', ')
    const hint = known === '' ? 'No MCP server of this agent has prompts.' : `Prompts of MCP servers: ${known}.`
    throw new ConfigError('invalidOption', `${command.slice(0, 80)} is not a prompt. ${hint}`)
  }
  const { set, prompt } = offered
  const args = argumentsOf(offered, rest)
  return set.prompt(prompt.name, args).catch((error) => {
    throw new ConfigError('invalidOption', `Cannot get ${commandOf(offered)}: ${errorText(error)}`)
  })
}

/**
 * Assigns `name=value` words to their arguments, and other words to the remaining arguments in order. The last argument gets all remaining
 * words.
 */
function argumentsOf(offered: OfferedPrompt, typed: string): Record<string, string> {
  const { prompt } = offered
  const given = new Map<string, string>()
  const words: string[] = []
  for (const [word] of typed.matchAll(/(?:[^\s"]|"[^"]*")+|"/g)) {
    const [, name = '', value = ''] = /^([^="]+)=(.*)$/s.exec(word) ?? []
    if (prompt.arguments.some((each) => each.name === name)) given.set(name, value.replaceAll('"', ''))
    else words.push(word.replaceAll('"', ''))
  }
  const open = prompt.arguments.filter(({ name }) => !given.has(name))
  const usage = `Type ${commandOf(offered)} ${usageOf(prompt)}`.trim()
  if (words.length > 0 && open.length === 0) throw new ConfigError('invalidOption', `Too many arguments. ${usage}.`)
  for (const [at, { name }] of open.entries()) {
    const value = at === open.length - 1 ? words.slice(at).join(' ') : words[at]
    if (value !== undefined && value !== '') given.set(name, value)
  }
  const missing = prompt.arguments.filter(({ name, required }) => required && !given.has(name)).map(({ name }) => name)
  if (missing.length > 0) throw new ConfigError('invalidOption', `${commandOf(offered)} needs ${missing.join(', ')}. ${usage}.`)
  return Object.fromEntries(given)
}
