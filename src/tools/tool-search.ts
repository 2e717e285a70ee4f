import { ConfigError } from '../contract/errors.ts'
import { text } from '../contract/message/message.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, aText, listOf, options as optionsOf, wholeFrom } from '../contract/shape/shape.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { toolJsonSchema } from '../validation/tool-parameters.ts'
import { defineTool } from './define-tool.ts'
import { aTool } from './registry.ts'
import { SearchIndex } from './search-index.ts'

/** Options of `toolSearch`. */
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
 * Creates a search tool that lets a model find tools among many. The model sees only the tools that it found.
 *
 * **Contract**
 * - At first the model gets only the search tool. Found tools are added from the next turn on, behind all other tools and in the order in
 *   which they were found. The prompt prefix stays the same, and so does the provider's cache.
 * - Found tools stay available: the search result records them in the history, so they survive a reload, a fork and a crash.
 * - Searches match names, descriptions and parameter names (BM25). A tool that was not found cannot be called.
 * - With `native`, a provider with tool search gets all tools marked as deferred, and its own search replaces this one. Every tool can
 *   then be called. With other providers, a call counts as a find.
 * - Reads `tools` once, even if the list changes later. Throws `ConfigError` `invalidOption` for a wrong option, and `invalidTool` for
 *   duplicate names.
 *
 * Source: docs/concepts/tools.md
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, tools: [ask, ...toolSearch(await mcpTools(client))] })
 * ```
 */
export function toolSearch(tools: readonly AgentTool[], options: ToolSearchOptions = {}): AgentTool[] {
  checkOptions(tools, searchedTools, 'tools', 'invalidTool')
  checkOptions(options, searchOptions)
  const { name = 'search_tools', most = 5, native = false } = options
  const names = new Set([name])
  for (const tool of tools) {
    if (names.has(tool.name)) throw new ConfigError('invalidTool', `Two tools are called "${tool.name}"; tool names must be unique.`)
    names.add(tool.name)
  }
  const search = searchTool(tools, name, most)
  return [native ? replaceable(search, tools) : search, ...tools.map((tool) => offeredLater(tool))]
}

/** Returns a copy of the tool that is offered once found. The prototype stays, because its methods may need it. */
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
    description: `Finds tools among ${tools.length} by what they do. Call it before you say that something cannot be done. Tools that are found can be called from your next turn on.`,
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'A few words for what the tool should do.' } },
      required: ['query'],
      additionalProperties: false,
    },
    idempotent: true,
    execute: ({ query }) => {
      index ??= new SearchIndex(tools.map((tool) => [tool, textOf(tool)] as const))
      const found = index.find(query.slice(0, 1000), most)
      if (found.length === 0) return 'No tool fits these words. Try others.'
      const lines = found.map((tool) => `- ${tool.name}: ${tool.description.slice(0, 300)}`)
      return { content: [text(`These can be called from now on:\n${lines.join('\n')}`)], offers: found.map((tool) => tool.name) }
    },
  })
}

function textOf(tool: AgentTool): string {
  const { properties } = toolJsonSchema(tool)
  return [tool.name, tool.name, tool.description, ...Object.keys(Object(properties))].join(' ')
}
