import type { OfferedPrompt, ServerLists } from './server-lists.ts'
import { commandOf, usageOf } from './typed-prompt.ts'

/** Maximum completions to offer at a time. */
export const mostOffered = 8

/** Texts that can complete what the user has typed. */
export interface McpCompletion {
  /** Index in the text from which an option replaces it. */
  from: number
  options: {
    /** Replaces the text from `from` to the cursor. Ends with a space if the text is complete. */
    text: string
    /** The server's description of the option. Untrusted. */
    description?: string
  }[]
}

type Option = McpCompletion['options'][number]

/** Completes `/server:prompt`, its arguments, and `@server:uri`. */
export function serverCompletion(before: string, lists: ServerLists): McpCompletion | undefined {
  if (before.startsWith('/')) return promptCompletion(before, lists)
  const [mention, server = '', query = ''] = /(?:^|\s)@([^\s":]+):([^\s"]*)$/.exec(before) ?? []
  if (mention === undefined) {
    const [, start] = /(?:^|\s)@([\w-]*)$/.exec(before) ?? []
    const names = start === undefined ? [] : lists.names.filter((name) => name.startsWith(start))
    const options = names.map((name) => option(`@${name}:`))
    return start === undefined ? undefined : completion(before.length - start.length - 1, options)
  }
  const options = lists.resources(server, query).map(({ uri, isWhole, label }) => option(`@${server}:${uri}${isWhole ? ' ' : ''}`, label))
  return completion(before.length - server.length - query.length - 2, options)
}

function promptCompletion(before: string, lists: ServerLists): McpCompletion | undefined {
  const [word = '', ...args] = before.split(/ +/)
  if (args.length === 0) {
    const found = lists.prompts.filter((each) => commandOf(each).startsWith(word))
    return completion(
      0,
      found.map((each) => option(`${commandOf(each)} `, aboutPrompt(each))),
    )
  }
  const offered = lists.prompts.find((each) => commandOf(each) === word)
  const typed = args.at(-1) ?? ''
  const [, name, value = ''] = /^([^=]+)=(.*)$/.exec(typed) ?? []
  if (offered === undefined || before.includes('"')) return undefined
  const { prompt, server } = offered
  const from = before.length - typed.length
  if (name === undefined) {
    const open = prompt.arguments.filter((each) => each.name.startsWith(typed) && !args.some((arg) => arg.startsWith(`${each.name}=`)))
    return completion(
      from,
      open.map((each) => option(`${each.name}=`, each.description)),
    )
  }
  const others = Object.fromEntries(args.slice(0, -1).flatMap((arg) => (arg.includes('=') ? [arg.split('=', 2)] : [])))
  const values = lists.values(server, { prompt: prompt.name, argument: name, value, arguments: others })
  return completion(
    from,
    values.map((each) => option(/\s/.test(each) ? `${name}="${each}" ` : `${name}=${each} `)),
  )
}

function aboutPrompt({ prompt }: OfferedPrompt): string | undefined {
  const about = [usageOf(prompt), prompt.description ?? prompt.title ?? ''].filter((text) => text !== '').join(' · ')
  return about === '' ? undefined : about
}

function option(text: string, description?: string): Option {
  return { text, ...(description !== undefined && description !== '' && { description }) }
}

function completion(from: number, options: Option[]): McpCompletion | undefined {
  return options.length === 0 ? undefined : { from, options: options.slice(0, mostOffered) }
}
