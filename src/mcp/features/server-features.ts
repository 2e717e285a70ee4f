import { logWarning } from '../../base/log-warning.ts'
import type { Content } from '../../contract/message/content.ts'
import type { MessageInput } from '../../contract/message/message.ts'
import type { Logger } from '../../types/logger.ts'
import { type ChangedList, changesOf } from './changes.ts'
import { type CompletionRequest, completions, listPrompts, type McpPrompt, promptMessages } from './prompts.ts'
import type { RequestSetting } from './requests.ts'
import { listResources, type McpResource, type McpResourceTemplate, readResource } from './resources.ts'

/** Options for a request. The caller owns `signal`. */
interface Options {
  signal?: AbortSignal
}

/**
 * An MCP server's resources and prompts. All of this content is untrusted.
 *
 * **Contract**
 * - Lists are empty if the server does not support them. Otherwise they reject with `McpError`.
 * - Other methods reject with `ConfigError` `unsupported` if the server does not support them.
 * - They reject with `ToolError` if the server fails, if it exceeds the timeouts of the set, or if `signal` aborts.
 *
 * Source: docs/guides/mcp.md
 */
export interface McpServerFeatures {
  /** Lists all resources and resource templates. Skips unsafe URIs, such as `javascript:`. */
  resources(options?: Options): Promise<{ resources: McpResource[]; templates: McpResourceTemplate[] }>
  /** Reads a resource as content for a message, with the limits of a tool result. */
  readResource(uri: string, options?: Options): Promise<Content[]>
  /**
   * Calls `listener` after every change of the resource. Returns a function that unsubscribes. Removing the last listener ends the
   * subscription.
   */
  onResourceChange(uri: string, listener: (uri: string) => void): Promise<() => void>
  /** Calls `listener` when the list of resources or prompts changes. Returns a function that unsubscribes. */
  onListChange(listener: (list: ChangedList) => void): () => void
  /** Lists all prompts. */
  prompts(options?: Options): Promise<McpPrompt[]>
  /** Returns a prompt's messages, for `agent.prompt`. Content that messages cannot contain becomes a note. */
  prompt(name: string, args?: Readonly<Record<string, string>>, options?: Options): Promise<MessageInput[]>
  /**
   * Returns up to 100 suggested values for a prompt argument or a template variable. Returns none if the server does not support
   * completion.
   */
  complete(request: CompletionRequest, options?: Options): Promise<string[]>
}

/** Returns access to the resources and prompts of the server in `setting`. */
export function serverFeatures(setting: RequestSetting, logger: Logger | undefined): McpServerFeatures {
  const changes = changesOf(setting.client)
  const warn = (event: string, fields: { error: string }) => logWarning(logger, event, fields)
  return {
    resources: ({ signal } = {}) => listResources(setting, signal),
    readResource: (uri, { signal } = {}) => readResource(setting, uri, signal),
    onResourceChange: (uri, listener) => changes.watch(setting, uri, listener, warn),
    onListChange: (listener) => changes.watchLists(listener, warn),
    prompts: ({ signal } = {}) => listPrompts(setting, signal),
    prompt: (name, args = {}, { signal } = {}) => promptMessages(setting, name, args, signal),
    complete: (request, { signal } = {}) => completions(setting, request, signal),
  }
}
