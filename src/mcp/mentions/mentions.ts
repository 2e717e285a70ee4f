import { ConfigError, errorText } from '../../contract/errors.ts'
import type { Content } from '../../contract/message/content.ts'
import type { MessageInput } from '../../contract/message/message.ts'
import type { McpToolSet } from '../tool-set.ts'
import { type McpCompletion, serverCompletion } from './completion.ts'
import { ServerLists } from './server-lists.ts'
import { commandOf, promptMessages, usageOf } from './typed-prompt.ts'

/**
 * Prompts and resources of MCP servers in text that a person types: `/server:prompt argument name=value` and `@server:uri`.
 *
 * **Contract**
 * - `server` is a tool set's `prefix`. Ignores sets without a prefix.
 * - Lists are requested when they are first needed, and again after a minute or a change. `complete` and `commands` return what is known
 *   now and never wait.
 * - A server that fails has no prompts and resources.
 */
export interface McpMentions {
  /** Calls `listener` when `complete` or `commands` may return more than before. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void
  /** Server names. */
  readonly servers: readonly string[]
  /**
   * The prompts that are known now: how to type them, such as `/files:review` and `language [tone]`, and what the server says about them
   * (untrusted).
   */
  readonly commands: readonly { command: string; usage: string; description?: string }[]
  /** Resolves when all servers are listed. */
  load(): Promise<void>
  /** Completes the text before the cursor. Returns at most 8 options, or `undefined` if there are none. */
  complete(before: string): McpCompletion | undefined
  /** Returns whether `text` starts with `/server:`. */
  isCommand(text: string): boolean
  /** Returns the messages of a typed prompt. Rejects with `ConfigError` if the prompt or an argument is wrong, or the server fails. */
  messages(command: string): Promise<MessageInput[]>
  /** Reads the resource that `server:uri` names; `undefined` if `server` is none. Rejects with `ConfigError`. */
  resource(mention: string): Promise<Content[]> | undefined
  /** Reads all resources that `text` mentions, each once. They are marked with their URI. Rejects with `ConfigError`. */
  resourcesIn(text: string): Promise<Content[]>
}

/** Matches `@server:uri` and `@"a name with spaces"`. */
const mention = /(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g

/** Punctuation at the end. Starts with a whole run of it, because shorter ones would take quadratic time. */
const punctuation = /(?<![.,;:!?)])[.,;:!?)]+$/

/** Returns the names that `text` mentions, without the `@` and punctuation after them, each once. */
export function mentionsIn(text: string): string[] {
  const names = Array.from(text.matchAll(mention), ([, quoted, word = '']) => quoted ?? word.replace(punctuation, ''))
  return [...new Set(names)]
}

/**
 * Lets people type prompts and resources of MCP servers, as in `phi`.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const mentions = mcpMentions([files])
 * const input = mentions.isCommand(text)
 *   ? await mentions.messages(text)
 *   : { role: 'user', content: [...(await mentions.resourcesIn(text)), { type: 'text', text }] }
 */
export function mcpMentions(sets: readonly McpToolSet[]): McpMentions {
  const listeners = new Set<() => void>()
  const lists = new ServerLists(sets, () => {
    for (const listener of [...listeners]) listener()
  })
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    get servers() {
      return lists.names
    },
    get commands() {
      return lists.prompts.map((offered) => {
        const { title, description = title } = offered.prompt
        return { command: commandOf(offered), usage: usageOf(offered.prompt), ...(description !== undefined && { description }) }
      })
    },
    load: () => lists.load(),
    complete: (before) => serverCompletion(before, lists),
    isCommand: (text) => lists.names.some((name) => text.startsWith(`/${name}:`)),
    messages: (command) => promptMessages(lists, command),
    resource: (named) => resourceOf(lists, named),
    async resourcesIn(text) {
      const found: Content[] = []
      for (const named of mentionsIn(text)) found.push(...((await resourceOf(lists, named)) ?? []))
      return found
    },
  }
}

function resourceOf(lists: ServerLists, named: string): Promise<Content[]> | undefined {
  const at = named.indexOf(':')
  const set = at === -1 ? undefined : lists.setOf(named.slice(0, at))
  return set?.readResource(named.slice(at + 1)).catch((error) => {
    throw new ConfigError(
      'invalidOption',
      `Cannot attach @${named}: ${errorText(error).replace(/\.?$/, '.')} Use another URI, or remove the @.`,
    )
  })
}
