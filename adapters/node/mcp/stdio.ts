import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { logInfo, withoutLikelySecrets } from '../../../src/base/log-warning.ts'
import { shortened } from '../../../src/base/text/characters.ts'
import { withoutSecrets } from '../../../src/base/text/secrets.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, anything, aText, listOf, options as optionsOf, recordOf, required } from '../../../src/contract/shape/shape.ts'
import { escapeControls } from '../../../src/store.ts'
import { connectMcpOver, type McpConnection, type McpConnectOptions } from '../../mcp/index.ts'
import { connectMcpServer, type McpServerConnection, type McpServerOptions } from '../../mcp/internal.ts'
import { type ServerCommand, ServerProcess } from './server-process.ts'

/** Which server to start, and how. */
export interface McpStdioOptions extends McpConnectOptions {
  /** The program; found on the `PATH` that it gets. */
  command: string
  args?: readonly string[]
  /** Beside, or instead of, what every server gets of ours: `HOME` `LOGNAME` `PATH` `SHELL` `TERM` `USER`, and on Windows what programs need to start. */
  env?: Record<string, string>
  /** Default: the directory of this process. */
  cwd?: string
  /** Called before each start, also when it is started again; where it rejects, nothing is started. Default: it is started. */
  beforeStart?: () => Promise<void> | void
  /** Gets its standard error, line by line. Default: `info` of the logger, as `mcpStderr`; the console gets none of it. */
  stderr?: (line: string) => void
}

const stdioOptions = optionsOf<McpStdioOptions>({
  command: required(aText),
  args: listOf(aText),
  env: recordOf(aText),
  cwd: aText,
  beforeStart: aFunction,
  stderr: aFunction,
  // Checked by the connection.
  clientInfo: anything,
  connectTimeoutMs: anything,
  onElicit: anything,
  onSample: anything,
  roots: anything,
  logger: anything,
})

const inherited =
  process.platform === 'win32'
    ? 'APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE PROGRAMFILES'
    : 'HOME LOGNAME PATH SHELL TERM USER'

/** Lines of standard error of one server, over all its processes. */
const maxStderrLines = 1000
/** Lines of standard error that the message of a failed connection has, and characters of each. */
const maxLastLines = 5
const maxLastLine = 300

/**
 * Starts an MCP server and connects to it over its standard input and output.
 *
 * **Contract**
 * - It gets the few variables of our environment that programs need, and those of `env`. Values of `env` stand in no error and no log.
 * - When it ends, the next call starts it again, once. `close()` ends its input, then sends SIGTERM, then SIGKILL to its process group; nothing of it is
 *   left then.
 * - A call during which it ends rejects, and says that nobody knows whether it was carried out; one that does no harm is made once more.
 * - Rejects with `McpError` `connection` when the program cannot be started or does not introduce itself. The message has its last lines.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const client = await connectMcpStdio({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/data'] })
 * const tools = await mcpTools(client, { prefix: 'files' })
 */
export async function connectMcpStdio(options: McpStdioOptions): Promise<McpConnection> {
  checkOptions(options, stdioOptions)
  const { command, args = [], env = {}, cwd, beforeStart, stderr, ...others } = options
  const secrets = Object.values(env).filter((value) => value.length >= 8)
  const pass = boundedLines(secrets, stderr ?? ((line) => logInfo(others.logger, 'mcpStderr', { line })))
  const last: string[] = []
  const server: ServerCommand = {
    command,
    args,
    env: { ...minimalEnvironment(), ...env },
    ...(cwd !== undefined && { cwd }),
    onStderr: (line) => {
      last.push(shortened(withoutLikelySecrets(line), maxLastLine))
      if (last.length > maxLastLines) last.shift()
      pass(line)
    },
  }
  const open = async (): Promise<Transport> => {
    await beforeStart?.()
    // Those of a process that ended before say nothing about this one.
    last.length = 0
    return transportTo(server)
  }
  return connectMcpOver({ open, advise: (error) => adviceOn(error, command), lastLines: () => last, secrets: () => secrets }, others)
}

function adviceOn(error: unknown, command: string): string {
  if (Object(error).code !== 'ENOENT') return 'Check command, args and cwd.'
  return /\s/.test(command) ? 'command is the program alone: give its arguments as args.' : 'Check command and cwd.'
}

/** On Windows that of the SDK: programs there are often scripts, which `cross-spawn` knows how to start, and there are no process groups. */
async function transportTo(server: ServerCommand): Promise<Transport> {
  if (process.platform !== 'win32') return new ServerProcess(server)
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { args, onStderr, ...others } = server
  const transport = new StdioClientTransport({ ...others, args: [...args], stderr: 'pipe' })
  transport.stderr?.on('data', (chunk: Uint8Array) => onStderr(new TextDecoder().decode(chunk)))
  return transport
}

/** Without what a shell would run as a function. */
function minimalEnvironment(): Record<string, string> {
  const names = inherited.split(' ')
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name]?.startsWith('()') === false ? [[name, process.env[name] ?? '']] : [])),
  )
}

/** Passes lines on until there are too many, and says so once. */
function boundedLines(secrets: readonly string[], pass: (line: string) => void): (line: string) => void {
  let count = 0
  return (line) => {
    count += 1
    if (count > maxStderrLines) return
    const shown = withoutSecrets(line, secrets)
    try {
      pass(count === maxStderrLines ? '... (output truncated)' : escapeControls(shown))
    } catch {
      // Whoever listens has no say in what the server does.
    }
  }
}

/**
 * Offers agents, tools and skills to the program that started this one, over standard input and output: as editors and desktop programs start MCP servers.
 *
 * **Contract**
 * - Standard output belongs to the protocol: write nothing else there. Failures go to `logger`.
 * - `ended` resolves when the other program closes its end; what runs is stopped then.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const { ended } = await serveMcpStdio({ agents: { research: { description: 'Looks things up.', agent: () => new Agent({ model }) } } })
 * await ended
 */
export async function serveMcpStdio(options: McpServerOptions): Promise<McpServerConnection> {
  const connection = await connectMcpServer(new StdioServerTransport(), options)
  // The transport does not listen for the end of its input.
  process.stdin.once('end', () => void connection.close())
  process.stdin.once('close', () => void connection.close())
  return connection
}
