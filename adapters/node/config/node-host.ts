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

/** Maximum bytes of an agent file or prompt file. */
const maxBytes = 524_288

/**
 * Reads a text file. Rejects with `ConfigError`: `io` if it cannot be read or is not a regular file, `parse` if it is too long or not
 * UTF-8. Never blocks on a FIFO or device, and reads at most the limit.
 */
export async function textOfFile(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (!stats.isFile()) throw new ConfigError('io', `Cannot read ${path}: it is not a regular file.`)
    const buffer = new Uint8Array(maxBytes + 1)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    if (bytesRead > maxBytes) throw new ConfigError('parse', `${path} is too long: the limit is ${maxBytes} bytes.`)
    const text = utf8In(buffer.subarray(0, bytesRead))
    if (text === undefined) throw new ConfigError('parse', `${path} is not UTF-8 text.`)
    return text
  } catch (error) {
    if (ConfigError.isInstance(error)) throw error
    throw new ConfigError('io', `${path} cannot be read: ${systemCode(error) ?? 'it cannot be opened'}.`, { cause: error })
  }
}

/** Parts of a host that do not come from Node. */
export interface NodeHostOptions extends Omit<ConfigHost, 'workspace' | 'readFile' | 'tools'> {
  /** The base of paths in the file. Default: the working directory of this process. */
  root?: string
  /** Settings for the built-in tools. */
  nodeTools?: Omit<NodeToolsOptions, 'root'>
  /** Tools in addition to the built-in ones. They override built-in tools with the same name. */
  tools?: Iterable<AgentTool>
  /** Handles elicitation requests from MCP servers. `'event'`: the run emits `inputRequested`. Default: requests are declined. */
  onElicit?: McpConnectOptions['onElicit']
}

const { root: _root, ...ofTools } = nodeToolTable

/** Validated again when agents are created. */
export const nodeHostOptions: Shape = optionsOf<NodeHostOptions>({
  root: aText,
  nodeTools: optionsOf<Omit<NodeToolsOptions, 'root'>>(ofTools),
  tools: someTools,
  // The connection, which is loaded late, validates it.
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

/** Creates this machine's host for the agent file at `path`. */
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

/** Resolves a directory. A path outside the root was shown when trust was requested, but a link was not. */
function directoryAt(root: string, path: string): string {
  const directory = absolute(root, path)
  if (!isWithin(root, directory)) return directory
  let real: string
  try {
    real = realpathSync(directory)
  } catch {
    return directory // the caller reports a missing directory
  }
  if (isWithin(realpathSync(root), real)) return directory
  throw new ConfigError('untrusted', `${path} is a link to a target outside ${root}. Pass the directory itself, so that it can be trusted.`)
}

function protection({ unprotected, allowSystemRoot }: Omit<NodeToolsOptions, 'root'>): Parameters<typeof nodeWorkspace>[1] {
  return { ...(unprotected !== undefined && { unprotected }), ...(allowSystemRoot !== undefined && { allowSystemRoot }) }
}

function workspaceAt(root: string, path: string, settings: Omit<NodeToolsOptions, 'root'>): Workspace {
  return nodeWorkspace(directoryAt(root, path), protection(settings))
}

/** Creates `bash` only if the file names it, because it needs a sandbox. */
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

/** Trust was requested for each path as written. Only a path that names another folder may be outside. */
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
  const { name, include, timeoutMs, resetTimeoutOnProgress, totalTimeoutMs, resourceTools } = server
  const log = logger ? { logger } : {}
  const shared = { ...log, ...(onElicit !== undefined && { onElicit }) }
  const client = await connectTo(server, root, snapshot, { ...shared, ...(fetch !== undefined && { fetch }) })
  try {
    const { mcpTools } = await import('../../../src/tools.ts')
    return await mcpTools(client, {
      ...log,
      prefix: name,
      ...definedFields({ include, timeoutMs, resetTimeoutOnProgress, totalTimeoutMs, resourceTools }),
    })
  } catch (error) {
    await client.close()
    throw error
  }
}

/** Loads the MCP SDK only if there is a server to connect to. */
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
