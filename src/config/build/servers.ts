import { mcpInstructions } from '../../mcp/instructions.ts'
import { legalPrefix, prefixWords } from '../../mcp/tool-name.ts'
import type { McpToolSet } from '../../mcp/tool-set.ts'
import { invalidField, needs, type Path } from '../config-error.ts'
import type { AgentPlace, McpServerConfig } from '../config-host.ts'
import { serversIn } from '../schema/find.ts'
import { optionOf, optionsOf } from '../schema/key-table.ts'
import { connectionKeys, type McpServerSection } from '../schema/sections.ts'
import { type Build, isOutside, shared } from './build.ts'

/** MCP servers that the agents of one workspace share. */
interface SharedServers extends ConnectedServers {
  users: number
}

/** Tools and instructions of the servers. */
interface ConnectedServers {
  sets: readonly McpToolSet[]
  /** Instructions of the servers with `instructions` enabled; may be empty. */
  instructions: string
}

/** Returns the servers of an agent's workspace, or `undefined` if the file defines none. The last agent to close closes the servers. */
export async function serversAt(build: Build, place: AgentPlace): Promise<(ConnectedServers & { close(): Promise<void> }) | undefined> {
  if (!serversIn(build.config).some(([{ enabled }]) => enabled !== false)) return undefined
  const all: SharedServers = await shared(build.made, `servers ${place.path}`, async () => ({
    ...(await connected(build, place)),
    users: 0,
  }))
  all.users += 1
  let isClosed = false
  return {
    sets: all.sets,
    instructions: all.instructions,
    close: async () => {
      if (isClosed) return
      isClosed = true
      all.users -= 1
      if (all.users === 0) await Promise.all(all.sets.map((set) => set.close()))
    },
  }
}

/** Connects the servers one after another. All are closed if the agent cannot be created. */
async function connected(build: Build, place: AgentPlace): Promise<ConnectedServers> {
  const sets: McpToolSet[] = []
  const instructing: McpToolSet[] = []
  for (const [section, path] of serversIn(build.config)) {
    if (section.enabled === false) continue
    const server = serverOf(section, path, place)
    const { connectMcp } = build.host
    if (connectMcp === undefined) throw needs(path, `names the MCP server "${server.name}"`, 'connectMcp')
    const set = await connectMcp.call(build.host, server)
    build.opened.push(set)
    sets.push(set)
    if (section.instructions === true) instructing.push(set)
  }
  return { sets, instructions: mcpInstructions(...instructing) }
}

function serverOf(section: McpServerSection, path: Path, place: AgentPlace): McpServerConfig {
  const { name, transport: _, command, args = [], env = {}, url, headers = {}, roots, enabled: __, instructions: ___, ...terms } = section
  const namePath = path.at(-1) === 'config' ? [...path.slice(0, -1), 'name'] : [...path, 'name']
  if (!legalPrefix.test(name)) throw invalidField(namePath, name, prefixWords)
  const shared = { name, ...optionsOf(connectionKeys, terms, path) }
  const isFor = (key: 'url' | 'command' | 'roots', transport: string) => {
    if (section[key] !== undefined) throw invalidField([...path, key], section[key], `nothing: it is for transport "${transport}"`)
  }
  const givenTransport =
    section.transport === undefined ? undefined : optionOf(connectionKeys.transport, section.transport, [...path, 'transport'])
  const transport = givenTransport ?? (command === undefined ? 'http' : 'stdio')
  if (transport === 'stdio') {
    if (command === undefined) throw invalidField([...path, 'command'], command, 'a program, for transport "stdio"')
    isFor('url', 'http')
    const at = roots?.findIndex((root) => isOutside(root)) ?? -1
    if (at >= 0) throw invalidField([...path, 'roots', at], roots?.[at], 'a folder within the one that the agent works in, such as "."')
    return { ...shared, transport, command, args, env, cwd: place.path, ...(roots !== undefined && { roots }) }
  }
  if (url === undefined || !/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw invalidField([...path, 'url'], url, 'an address, for transport "http"')
  isFor('command', 'stdio')
  isFor('roots', 'stdio')
  return { ...shared, transport, url, headers }
}
