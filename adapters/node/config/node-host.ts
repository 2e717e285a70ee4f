import { constants, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { someTools } from '../../../src/base/argument-checks.ts'
import { utf8In } from '../../../src/base/text/characters.ts'
import type { ConfigHost, McpServerConfig } from '../../../src/config.ts'
import { definedFields } from '../../../src/contract/json.ts'
import { aFlag, aFunction, anything, aText, either, options as optionsOf, type Shape } from '../../../src/contract/shape/shape.ts'
import { type AgentTool, ConfigError, type Logger } from '../../../src/index.ts'
import type { ToolPlace } from '../../../src/internal.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import type { Workspace } from '../../../src/tools.ts'
import type { HookScripts } from '../../../src/types/run/turn.ts'
import type { McpConnection, McpConnectOptions, McpToolSet } from '../../mcp/index.ts'
import { type NodeToolsOptions, nodeTools, nodeToolTable } from '../node-tools.ts'
import { isWithin } from '../policy/programs.ts'
import { checkedScriptHooks } from '../script-hooks/script-hooks.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { nodeWorkspace } from '../workspace/node-workspace.ts'
import { digestOf } from './code-files.ts'
import { absolute, codeOfServer } from './commands.ts'
import { loadPlugins } from './plugin-modules.ts'
import { allowsOutside, type CodeSnapshot } from './snapshot.ts'

/** Bytes of an agent file, or of a prompt in a file of its own: none that a person wrote has so many. */
const maxBytes = 524_288

/**
 * The text of a file. Rejects with `ConfigError`: `io` for one that cannot be read or is no regular file, `parse` for one that is too long or no UTF-8. A
 * FIFO or device would never end, so nothing is waited for, and no more than the limit is read.
 */
export async function textOfFile(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (!stats.isFile()) throw new ConfigError('io', `${path} cannot be read: it is no regular file.`)
    const buffer = new Uint8Array(maxBytes + 1)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    if (bytesRead > maxBytes) throw new ConfigError('parse', `${path} is longer than ${maxBytes} bytes, which is too long.`)
    const text = utf8In(buffer.subarray(0, bytesRead))
    if (text === undefined) throw new ConfigError('parse', `${path} is no text in UTF-8.`)
    return text
  } catch (error) {
    if (ConfigError.isInstance(error)) throw error
    throw new ConfigError('io', `${path} cannot be read: ${systemCode(error) ?? 'it cannot be opened'}.`, { cause: error })
  }
}

/** What of a host is not taken from Node. */
export interface NodeHostOptions extends Omit<ConfigHost, 'workspace' | 'readFile' | 'tools'> {
  /** What paths of the file are relative to. Default: the directory of this process. */
  root?: string
  /** How the built-in tools run. */
  nodeTools?: Omit<NodeToolsOptions, 'root'>
  /** Tools beside the built-in ones; of two with one name this one is taken. */
  tools?: Iterable<AgentTool>
  /** Answers what MCP servers ask a person; `'event'`: the run asks, as `inputRequested`. Default: they are told that there is nobody. */
  onElicit?: McpConnectOptions['onElicit']
}

const { root: _root, ...ofTools } = nodeToolTable

/** Checked again, with all else, when agents are made. */
export const nodeHostOptions: Shape = optionsOf<NodeHostOptions>({
  root: aText,
  nodeTools: optionsOf<Omit<NodeToolsOptions, 'root'>>(ofTools),
  tools: someTools,
  // Checked by the connection, which is loaded late.
  onElicit: anything,
  env: anything,
  sessions: anything,
  fetch: anything,
  skills: anything,
  trust: either(aFlag, aFunction),
  scriptHooks: anything,
  loadPlugin: anything,
  connectMcp: anything,
  models: anything,
  createModel: anything,
  logger: anything,
})

/** What this machine gives the agent file at `path`. */
export function hostOfNode(options: NodeHostOptions, path: string, snapshot: CodeSnapshot): ConfigHost {
  const { root: given = '.', nodeTools: settings = {}, tools = [], onElicit, ...others } = options
  const root = resolve(given)
  return {
    env: process.env,
    connectMcp: (server) => connect(server, root, snapshot, { ...others, ...(onElicit !== undefined && { onElicit }) }),
    scriptHooks: (scripts, { path }) => hooksAt(directoryAt(root, path), scripts, snapshot),
    loadPlugin: (plugin) => loadPlugins(plugin, dirname(path), snapshot.check),
    ...others,
    workspace: (path) => workspaceAt(root, path, settings),
    tools: (place) => toolsAt(root, place, settings, tools),
    readFile: (path) => textOfFile(absolute(root, path)),
  }
}

/** The directory of a path, which trust was asked for where it says that it lies outside. A link says nothing. */
function directoryAt(root: string, path: string): string {
  const directory = absolute(root, path)
  if (!isWithin(root, directory)) return directory
  let real: string
  try {
    real = realpathSync(directory)
  } catch {
    return directory // that there is none is said by who uses it
  }
  if (isWithin(realpathSync(root), real)) return directory
  throw new ConfigError('untrusted', `${path} is a link that leads out of ${root}. Name the directory itself, so that it can be trusted.`)
}

function protection({ unprotected, allowSystemRoot }: Omit<NodeToolsOptions, 'root'>): Parameters<typeof nodeWorkspace>[1] {
  return { ...(unprotected !== undefined && { unprotected }), ...(allowSystemRoot !== undefined && { allowSystemRoot }) }
}

function workspaceAt(root: string, path: string, settings: Omit<NodeToolsOptions, 'root'>): Workspace {
  return nodeWorkspace(directoryAt(root, path), protection(settings))
}

/** `bash` wants a sandbox, so it is made only where it is named. */
function toolsAt(
  root: string,
  { path, names }: ToolPlace,
  settings: Omit<NodeToolsOptions, 'root'>,
  own: Iterable<AgentTool>,
): AgentTool[] {
  const given = [...own]
  const wantsBash = names.includes('bash') && !given.some(({ name }) => name === 'bash')
  const builtIn = nodeTools({ ...settings, root: directoryAt(root, path), ...(!wantsBash && { bash: false }) })
  return [...builtIn, ...given]
}

/** Trust was asked for each by what it says; only one that says so may lie elsewhere. */
function hooksAt(root: string, scripts: HookScripts, snapshot: CodeSnapshot): LoopHooks {
  return checkedScriptHooks({ scripts, root, allowOutside: allowsOutside({ ...scripts }) }, (path, bytes) =>
    snapshot.check([[path, digestOf(bytes)]]),
  )
}

interface Connecting {
  fetch?: typeof fetch
  logger?: Logger | false
  onElicit?: NonNullable<McpConnectOptions['onElicit']>
}

async function connect(
  server: McpServerConfig,
  root: string,
  snapshot: CodeSnapshot,
  { fetch, logger, onElicit }: Connecting,
): Promise<McpToolSet> {
  const { name, include, timeoutMs, resetTimeoutOnProgress, totalTimeoutMs } = server
  const log = logger ? { logger } : {}
  const shared = { ...log, ...(onElicit !== undefined && { onElicit }) }
  const client = await connectTo(server, root, snapshot, { ...shared, ...(fetch !== undefined && { fetch }) })
  try {
    const { mcpTools } = await import('../../../src/tools.ts')
    return await mcpTools(client, {
      ...log,
      prefix: name,
      ...definedFields({ include, timeoutMs, resetTimeoutOnProgress, totalTimeoutMs }),
    })
  } catch (error) {
    await client.close()
    throw error
  }
}

/** Only who connects needs the SDK. */
async function connectTo(
  server: McpServerConfig,
  root: string,
  snapshot: CodeSnapshot,
  options: McpConnectOptions & { fetch?: typeof globalThis.fetch },
): Promise<McpConnection> {
  if (server.transport === 'stdio') {
    const { fetch: _, ...others } = options
    const { command, args, env, cwd, roots = [] } = server
    const place = { command, args, env: { ...env }, cwd: directoryAt(root, cwd) }
    const uris = roots.map((path) => ({ uri: pathToFileURL(resolve(place.cwd, path)).href }))
    const beforeStart = async (): Promise<void> => snapshot.check((await codeOfServer(place)).digests)
    await beforeStart()
    const { connectMcpStdio } = await import('../mcp/index.ts')
    return connectMcpStdio({ ...others, ...place, roots: uris, beforeStart })
  }
  const { connectMcp } = await import('../../mcp/index.ts')
  return connectMcp({ ...options, url: server.url, headers: { ...server.headers } })
}
