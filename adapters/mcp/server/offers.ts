import type { Prompt, Resource, Tool } from '@modelcontextprotocol/sdk/types.js'
import { aLogger } from '../../../src/base/argument-checks.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import {
  aFunction,
  aPositiveNumber,
  aText,
  type OptionTable,
  options as optionsOf,
  recordOf,
  required,
  wholeFrom,
  withMethods,
} from '../../../src/contract/shape/shape.ts'
import { isToolName } from '../../../src/contract/tool/tool-result.ts'
import type { Logger } from '../../../src/index.ts'
import { type Agent, type AgentTool, ConfigError } from '../../../src/index.ts'
import { toolJsonSchema, toolList } from '../../../src/internal.ts'
import type { SkillSet, Workspace } from '../../../src/tools.ts'

/** The name of the caller, if the server has several users. */
export interface McpCaller {
  identity?: string
}

/** An agent to serve as a tool. */
export interface McpAgent {
  /** Description for the client's model. */
  description: string
  /** Display name. Default: its name. */
  title?: string
  /** Creates the agent for one call. */
  agent: (caller: McpCaller) => Agent | Promise<Agent>
}

/** Skills to serve as prompts and resources, with their files. */
export interface McpSkills {
  skills: SkillSet
  /** The workspace that the skills were loaded from. */
  workspace: Workspace
}

/** Options for an MCP server. Source: docs/guides/mcp.md */
export interface McpServerOptions {
  /** Server name. Default: `phi-core`. */
  name?: string
  /** Server version. Default: `1.0.0`. */
  version?: string
  /** Instructions for the client's model. */
  instructions?: string
  /** Agents, by tool name. Each takes a `prompt` and returns its last message. */
  agents?: Readonly<Record<string, McpAgent>>
  /** Tools to serve. If a tool needs an approval, the server sends an elicitation request to the client's user. */
  tools?: readonly AgentTool[]
  /** Skills, served as prompts and as resources `skill://name`. */
  skills?: McpSkills
  /**
   * Returns the `context` of a call for tools and hooks, such as a tenant or a token. Called once per call, with the name of the called
   * tool or agent and the headers of the HTTP request (empty for other transports). Default: none, or the default value of the agent.
   */
  context?: (call: McpCaller & { toolName: string; headers: Headers }) => unknown
  /** Milliseconds until an elicitation request is declined. Default: 300,000. */
  askTimeoutMs?: number
  /** Maximum number of concurrent calls per connection. Further calls get an error. Default: 16. */
  maxCalls?: number
  /** Logs failures to create an agent. Default: none. */
  logger?: Logger | false
}

/** Validators of {@link McpServerOptions}, for option tables that include them. */
export const serverTable: OptionTable<McpServerOptions> = {
  name: aText,
  version: aText,
  instructions: aText,
  agents: recordOf(optionsOf<McpAgent>({ description: required(aText), title: aText, agent: required(aFunction) })),
  tools: toolList,
  skills: optionsOf<McpSkills>({
    skills: required(withMethods('a set of skills from loadSkills', 'get')),
    workspace: required(withMethods('a workspace', 'read')),
  }),
  context: aFunction,
  askTimeoutMs: aPositiveNumber,
  maxCalls: wholeFrom(1),
  logger: aLogger,
}

const serverOptions = optionsOf<McpServerOptions>(serverTable)

/** Validates a server's agents, tools and skills. Throws `ConfigError` `invalidOption`. */
export function checkServer(options: McpServerOptions): void {
  checkOptions(options, serverOptions)
  checkOffers(options)
}

/** Throws `ConfigError` `invalidOption` for invalid or duplicate names, or if there is nothing to serve. */
export function checkOffers({ agents = {}, tools = [], skills }: McpServerOptions): void {
  const names = [...Object.keys(agents), ...tools.map(({ name }) => name)]
  if (names.length === 0 && skills === undefined) {
    throw new ConfigError('invalidOption', 'The server has nothing to offer. Pass agents, tools or skills.')
  }
  const odd = names.find((name) => !isToolName(name))
  if (odd !== undefined) throw new ConfigError('invalidOption', `"${odd}" is no name of a tool: 1 to 64 letters, digits, _ and -.`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new ConfigError('invalidOption', `Two tools are named "${twice}". Give each tool a unique name.`)
}

const promptSchema = {
  type: 'object' as const,
  properties: { prompt: { type: 'string', description: 'The task, with all the context that the agent needs.' } },
  required: ['prompt'],
}

/** Returns a server's tools, as clients list them. */
export function toolOffers({ agents = {}, tools = [] }: McpServerOptions): Tool[] {
  const ofAgents = Object.entries(agents).map(([name, { description, title = name }]) => ({
    name,
    title,
    description,
    inputSchema: promptSchema,
  }))
  const ofTools = tools.map((tool) => {
    const { name, label, description } = tool
    // The options check ensures that the schema's root is an object.
    return { name, title: label, description, inputSchema: { ...toolJsonSchema(tool), type: 'object' as const } }
  })
  return [...ofAgents, ...ofTools]
}

const scheme = 'skill://'

/** Returns skills as prompts, with their instructions and the task. */
export function promptOffers({ skills }: McpServerOptions): Prompt[] {
  const task = { name: 'task', description: 'The task to do.', required: false }
  return (skills?.skills.skills ?? []).map(({ name, description }) => ({ name, description, arguments: [task] }))
}

/** Returns skills as resources, with their `SKILL.md`. */
export function resourceOffers({ skills }: McpServerOptions): Resource[] {
  return (skills?.skills.skills ?? []).map(({ name, description }) => ({
    uri: `${scheme}${name}`,
    name,
    description,
    mimeType: 'text/markdown',
  }))
}

/** Returns the skill name in a URI. */
export function skillNameIn(uri: string): string | undefined {
  return uri.startsWith(scheme) ? uri.slice(scheme.length) : undefined
}

/** Reads a skill's instructions from its file. Returns `undefined` for an unknown skill. */
export async function skillText({ skills }: McpServerOptions, name: string, signal: AbortSignal): Promise<string | undefined> {
  const skill = skills?.skills.get(name)
  if (skills === undefined || skill === undefined) return undefined
  return new TextDecoder().decode(await skills.workspace.read(skill.location, { signal }))
}
