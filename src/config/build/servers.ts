import { definedFields } from '../../contract/json.ts'
import { mcpInstructions } from '../../mcp/instructions.ts'
import { legalPrefix, type McpToolSet, prefixWords } from '../../mcp/tool-set.ts'
import { invalidField, needs, type Path } from '../config-error.ts'
import type { AgentPlace, McpServerConfig } from '../config-host.ts'
import { serversIn } from '../schema/check.ts'
import type { McpServerSection } from '../schema/sections.ts'
import { type Build, isOutside, shared } from './build.ts'

/** The servers that the agents of one place have in common. */
interface SharedServers extends ConnectedServers {
  users: number
}

/** What the servers of one place give. */
interface ConnectedServers {
  sets: readonly McpToolSet[]
  /** What those of them say for the prompt of which the file wants it; may be empty. */
  instructions: string
}

/** What one agent has of the servers of its place: the last one to close them closes them. Undefined where the file names none. */
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

/** One after the other. Each is closed where the agent cannot be made after all. */
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
  const { name, command, args = [], env = {}, url, headers = {}, roots } = section
  const namePath = path.at(-1) === 'config' ? [...path.slice(0, -1), 'name'] : [...path, 'name']
  if (!legalPrefix.test(name)) throw invalidField(namePath, name, prefixWords)
  const shared = { name, ...definedFields(toolTermsOf(section)) }
  const transport = section.transport?.toLowerCase() ?? (command === undefined ? 'http' : 'stdio')
  if (transport === 'stdio') {
    if (command === undefined) throw invalidField([...path, 'command'], command, 'a program, for transport "stdio"')
    if (url !== undefined) throw invalidField([...path, 'url'], url, 'nothing: it is for transport "http"')
    const at = roots?.findIndex((root) => isOutside(root)) ?? -1
    if (at >= 0) throw invalidField([...path, 'roots', at], roots?.[at], 'a folder within the one that the agent works in, such as "."')
    return { ...shared, transport, command, args, env, cwd: place.path, ...(roots !== undefined && { roots }) }
  }
  if (url === undefined || !/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw invalidField([...path, 'url'], url, 'an address, for transport "http"')
  if (command !== undefined) throw invalidField([...path, 'command'], command, 'nothing: it is for transport "stdio"')
  if (roots !== undefined) throw invalidField([...path, 'roots'], roots, 'nothing: it is for transport "stdio"')
  return { ...shared, transport: 'http', url, headers }
}

function toolTermsOf({ include, timeout_secs, reset_timeout_on_progress, total_timeout_secs }: McpServerSection) {
  return {
    include,
    timeoutMs: inMs(timeout_secs),
    resetTimeoutOnProgress: reset_timeout_on_progress,
    totalTimeoutMs: inMs(total_timeout_secs),
  }
}

const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000)
