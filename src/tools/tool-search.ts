import { ConfigError } from '../contract/errors.ts'
import { text } from '../contract/message/message.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, aText, listOf, options as optionsOf, wholeFrom } from '../contract/shape/shape.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { toolJsonSchema } from '../validation/tool-parameters.ts'
import { defineTool } from './define-tool.ts'
import { aTool } from './registry.ts'
import { SearchIndex } from './search-index.ts'

/** Options for `toolSearch`. */
export interface ToolSearchOptions {
  /** Name of the search tool. Default: `search_tools`. */
  name?: string
  /** Maximum tools per search. Default: 5. */
  most?: number
  /** Uses the provider's own tool search if it has one: `capabilities.toolSearch`. Default: `false`. */
  native?: boolean
}

const searchedTools = listOf(aTool)
const searchOptions = optionsOf<ToolSearchOptions>({ name: aText, most: wholeFrom(1), native: aFlag })

/**
 * Creates a search tool for large tool sets. The model sees only the tools that its searches found.
 *
 * **Contract**
 * - Initially, the model gets only the search tool. Appends found tools, in the order of discovery, starting with the next turn. The prompt
 *   prefix is unchanged, so the provider's cache stays valid.
 * - Found tools stay available: the search result records them in the history, so they survive reloads, forks and crashes.
 * - Searches match names, descriptions and parameter names (BM25). A tool that was not found cannot be called.
 * - With `native`, a provider that supports tool search receives all tools marked as deferred, and the provider's search replaces this
 *   tool. The model can then call every tool. For other providers, called tools count as found.
 * - Reads `tools` once and ignores later changes to the list. Throws `ConfigError` `invalidOption` for an invalid option, and
 *   `invalidTool` for duplicate names.
 *
 * Source: docs/concepts/tools.md
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, tools: [weather, ...toolSearch(await mcpTools(client))] })
 * ```
 */
export function toolSearch(tools: readonly AgentTool[], options: ToolSearchOptions = {}): AgentTool[] {
  checkOptions(tools, searchedTools, 'tools', 'invalidTool')
  checkOptions(options, searchOptions)
  const { name = 'search_tools', most = 5, native = false } = options
  const names = new Set([name])
  for (const tool of tools) {
    if (names.has(tool.name)) throw new ConfigError('invalidTool', `Two tools are named "${tool.name}". Give each tool a unique name.`)
    names.add(tool.name)
  }
  const search = searchTool(tools, name, most)
  return [native ? replaceable(search, tools) : search, ...tools.map((tool) => offeredLater(tool))]
}

/** Returns a copy of the tool that is offered only after a search finds it. Keeps the prototype, because the tool's methods may need it. */
function offeredLater(tool: AgentTool): AgentTool {
  return Object.create(tool, { isOffered: { value: 'whenFound', enumerable: true } })
}

/** Returns a copy of the search tool that a provider's own search can replace. */
function replaceable(search: AgentTool, tools: readonly AgentTool[]): AgentTool {
  return Object.create(search, { searches: { value: tools.map(({ name }) => name), enumerable: true } })
}

function searchTool(tools: readonly AgentTool[], name: string, most: number): AgentTool {
  let index: SearchIndex<AgentTool> | undefined
  return defineTool<{ query: string }>({
    name,
    description: `Searches ${tools.length} tools by what they do. Call it before you conclude that something is impossible. You can call the tools it finds from your next turn on.`,
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'A few words that describe what the tool should do.' } },
      required: ['query'],
      additionalProperties: false,
    },
    idempotent: true,
    execute: ({ query }) => {
      index ??= new SearchIndex(tools.map((tool) => [tool, textOf(tool)] as const))
      const found = index.find(query.slice(0, 1000), most)
      if (found.length === 0) return 'No tool matches these words. Try other words.'
      const lines = found.map((tool) => `- ${tool.name}: ${tool.description.slice(0, 300)}`)
      return { content: [text(`You can call these tools from now on:\n${lines.join('\n')}`)], offers: found.map((tool) => tool.name) }
    },
  })
}

function textOf(tool: AgentTool): string {
  const { properties } = toolJsonSchema(tool)
  return [tool.name, tool.name, tool.description, ...Object.keys(Object(properties))].join(' ')
}
