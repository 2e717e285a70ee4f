import { ConfigError } from '../contract/errors.ts'
import { text } from '../contract/message/message.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, aText, listOf, options as optionsOf, wholeFrom } from '../contract/shape/shape.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { toolJsonSchema } from '../validation/tool-parameters.ts'
import { defineTool } from './define-tool.ts'
import { aTool } from './registry.ts'
import { SearchIndex } from './search-index.ts'

/** How a model finds its tools. */
export interface ToolSearchOptions {
  /** What the model calls to search. Default `search_tools`. */
  name?: string
  /** Most tools that one search finds. Default 5. */
  most?: number
  /** Leaves the search to the model's service, where that has one of its own: `capabilities.toolSearch`. Default `false`. */
  native?: boolean
}

const searchedTools = listOf(aTool)
const searchOptions = optionsOf<ToolSearchOptions>({ name: aText, most: wholeFrom(1), native: aFlag })

/**
 * Many tools, of which a model sees those that it has searched for: a search tool, and `tools` behind it.
 *
 * **Contract**
 * - The model is offered the search tool alone. Found tools are offered from the next turn on, behind all other tools. They stand in the order in which they
 *   were found: what stands before it in the prompt stays as it was, and so does the cache.
 * - Found tools stay offered: the result of the search says so in the history, which survives a reload, a fork and a crash.
 * - Searches look at names, descriptions and names of parameters (BM25). A tool that was not found cannot be called.
 * - With `native`, a service that has a search gets all tools, marked as not to be shown, and its own search in place of this one. Any of them can then be
 *   called; a call is as good as a find for the services without one.
 * - `tools` that change by themselves are looked at once. Throws `ConfigError` `invalidOption` for a wrong option, and `invalidTool` for two tools of one name.
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

/** The same tool, which is offered once it was found. Its methods may rest on what it is. */
function offeredLater(tool: AgentTool): AgentTool {
  return Object.create(tool, { isOffered: { value: 'whenFound', enumerable: true } })
}

/** The same search, in whose place a service may search. */
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
