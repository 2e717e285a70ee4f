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

/** Options of `connectMcpStdio`: the server command and its environment. */
export interface McpStdioOptions extends McpConnectOptions {
  /** The program, resolved on the `PATH` in `env`. */
  command: string
  args?: readonly string[]
  /**
   * Environment variables. The server also inherits `HOME` `LOGNAME` `PATH` `SHELL` `TERM` `USER`, and on Windows the variables programs
   * need to start.
   */
  env?: Record<string, string>
  /** Working directory. Default: this process's working directory. */
  cwd?: string
  /** Runs before each start and restart. If it rejects, the server does not start. */
  beforeStart?: () => Promise<void> | void
  /** Receives stderr line by line. Default: `logger.info` with the code `mcpStderr`; nothing goes to the console. */
  stderr?: (line: string) => void
}

const stdioOptions = optionsOf<McpStdioOptions>({
  command: required(aText),
  args: listOf(aText),
  env: recordOf(aText),
  cwd: aText,
  beforeStart: aFunction,
  stderr: aFunction,
  // Validated by the connection.
  clientInfo: anything,
  connectTimeoutMs: anything,
  onElicit: anything,
  onSample: anything,
  apps: anything,
  roots: anything,
  logger: anything,
})

const inherited =
  process.platform === 'win32'
    ? 'APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE PROGRAMFILES'
    : 'HOME LOGNAME PATH SHELL TERM USER'

/** Maximum stderr lines of a server, across all restarts. */
const maxStderrLines = 1000
/** Maximum stderr lines, and characters per line, in the message of a failed connection. */
const maxLastLines = 5
const maxLastLine = 300

/**
 * Starts an MCP server and connects to it over its standard input and output.
 *
 * **Contract**
 * - The server gets a minimal environment plus `env`. Values of `env` are redacted in errors and logs.
 * - If the server exits, the next call restarts it once. `close()` ends its input, then sends SIGTERM, then SIGKILL to its process group.
 * - A call during which the server exits rejects with an unknown outcome. A read-only or idempotent call is retried once.
 * - Rejects with `McpError` `connection` if the program does not start or does not initialize. The message contains its last stderr lines.
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
    // Drop the lines of the previous process.
    last.length = 0
    return transportTo(server)
  }
  return connectMcpOver({ open, advise: (error) => adviceOn(error, command), lastLines: () => last, secrets: () => secrets }, others)
}

function adviceOn(error: unknown, command: string): string {
  if (Object(error).code !== 'ENOENT') return 'Check command, args and cwd.'
  return /\s/.test(command) ? 'command must be only the program. Pass its arguments in args.' : 'Check command and cwd.'
}

/** Creates the transport. Windows uses the SDK's transport: it can start scripts, and Windows has no process groups. */
async function transportTo(server: ServerCommand): Promise<Transport> {
  if (process.platform !== 'win32') return new ServerProcess(server)
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { args, onStderr, ...others } = server
  const transport = new StdioClientTransport({ ...others, args: [...args], stderr: 'pipe' })
  transport.stderr?.on('data', (chunk: Uint8Array) => onStderr(new TextDecoder().decode(chunk)))
  return transport
}

/** Omits values that a shell would run as a function. */
function minimalEnvironment(): Record<string, string> {
  const names = inherited.split(' ')
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name]?.startsWith('()') === false ? [[name, process.env[name] ?? '']] : [])),
  )
}

/** Forwards lines up to a limit, then one line that marks the cut. */
function boundedLines(secrets: readonly string[], pass: (line: string) => void): (line: string) => void {
  let count = 0
  return (line) => {
    count += 1
    if (count > maxStderrLines) return
    const shown = withoutSecrets(line, secrets)
    try {
      pass(count === maxStderrLines ? '... (output truncated)' : escapeControls(shown))
    } catch {
      // A throwing listener must not affect the server.
    }
  }
}

/**
 * Serves agents, tools and skills as an MCP server over stdio, for editors and desktop apps that start this process.
 *
 * **Contract**
 * - Standard output carries the protocol: write nothing else to it. Failures go to `logger`.
 * - `ended` resolves when the client closes the connection. Running calls are aborted then.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const { ended } = await serveMcpStdio({ agents: { research: { description: 'Looks things up.', agent: () => new Agent({ model }) } } })
 * await ended
 */
export async function serveMcpStdio(options: McpServerOptions): Promise<McpServerConnection> {
  const connection = await connectMcpServer(new StdioServerTransport(), options)
  // The SDK's transport does not detect the end of its input.
  process.stdin.once('end', () => void connection.close())
  process.stdin.once('close', () => void connection.close())
  return connection
}
