import { Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  agent,
  type ClientCapabilities,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
import { type AgentTool, ConfigError, type Logger, PhiError } from '../../../../src/index.ts'
import { mcpMentions } from '../../../../src/mcp/mentions/mentions.ts'
import type { McpToolSet } from '../../../../src/mcp/tool-set.ts'
import { mcpTools } from '../../../../src/tools.ts'
import type { CliArguments } from '../args.ts'
import { openAssistant } from '../assistant/assistant.ts'
import { latestSessions } from '../assistant/latest-sessions.ts'
import { recordedLoops } from '../assistant/recorded-loops.ts'
import { errorLine } from '../endings.ts'
import { AcpSession } from './acp-session.ts'
import { type EditorFiles, EditorWorkspace } from './editor-workspace.ts'

/** Maximum number of open sessions per editor. */
const mostOpen = 64

/** Options for an ACP server. */
export interface AcpOptions {
  args: CliArguments
  logger: Logger
  version: string
}

/**
 * Serves an agent to an editor over standard input and output with the Agent Client Protocol, until the editor disconnects. Resolves with
 * the exit code.
 *
 * No other code may write to standard output in the meantime.
 */
export async function serveAcp(options: AcpOptions): Promise<number> {
  const sessions = new Sessions(options)
  const { stdin, stdout } = process
  // The reader has closed the output, so the end of the input follows.
  stdout.on('error', () => undefined)
  // Both types describe the same stream.
  const input = Readable.toWeb(stdin) as ReadableStream<Uint8Array>
  const connection = appOf(sessions, options).connect(ndJsonStream(Writable.toWeb(stdout), input))
  let code = 0
  const stop = (signal: NodeJS.Signals) => {
    code = signal === 'SIGINT' ? 130 : 143
    connection.close()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    await connection.closed.catch(() => undefined)
    return code
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    await sessions.close()
    stdin.destroy()
  }
}

function appOf(sessions: Sessions, { version }: AcpOptions) {
  const { agent: on } = methods
  return agent({ name: 'phi' })
    .onRequest(on.initialize, ({ params: { clientCapabilities } }) => {
      sessions.capabilities = clientCapabilities ?? {}
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'phi', version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true },
          sessionCapabilities: { list: {}, close: {} },
        },
        authMethods: [],
      }
    })
    .onRequest(on.authenticate, () => ({}))
    .onRequest(on.session.new, ({ params, client }) => withErrors(() => sessions.begin(params, client)))
    .onRequest(on.session.load, ({ params, client }) => withErrors(() => sessions.load(params, client)))
    .onRequest(on.session.list, ({ params: { cwd } }) => withErrors(() => sessions.list(cwd ?? process.cwd())))
    .onRequest(on.session.close, ({ params: { sessionId } }) => withErrors(() => sessions.end(sessionId)))
    .onRequest(on.session.setMode, ({ params: { sessionId, modeId } }) =>
      withErrors(async () => {
        await sessions.get(sessionId).setMode(modeId)
        return {}
      }),
    )
    .onRequest(on.session.prompt, ({ params: { sessionId, prompt }, signal }) =>
      withErrors(async () => {
        const session = sessions.get(sessionId)
        signal.addEventListener('abort', () => session.cancel(), { once: true })
        return { stopReason: await session.prompt(prompt) }
      }),
    )
    .onNotification(on.session.cancel, ({ params: { sessionId } }) => sessions.find(sessionId)?.cancel())
}

/** Errors are sent as text, because editors show them. */
async function withErrors<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof RequestError || !PhiError.isInstance(error)) throw error
    throw ConfigError.isInstance(error)
      ? RequestError.invalidParams(undefined, errorLine(error))
      : RequestError.internalError(undefined, errorLine(error))
  }
}

/** Returns a session's folder, as specified by the editor. */
interface Place {
  cwd: string
  mcpServers: readonly McpServer[]
}

/** Conversations that an editor has open. */
class Sessions {
  capabilities: ClientCapabilities = {}
  readonly #options: AcpOptions
  readonly #open = new Map<string, AcpSession>()

  constructor(options: AcpOptions) {
    this.#options = options
  }

  find(sessionId: string): AcpSession | undefined {
    return this.#open.get(sessionId)
  }

  get(sessionId: string): AcpSession {
    const session = this.find(sessionId)
    if (session === undefined) throw RequestError.invalidParams({ sessionId }, 'This session is not open. Create or load a session.')
    return session
  }

  async begin(place: Place, client: AgentContext) {
    const session = await this.#opened(place, client, undefined)
    // The editor knows the session after the response.
    setImmediate(() => void session.offerCommands())
    return { sessionId: session.id, modes: session.modes }
  }

  async load({ sessionId, ...place }: Place & { sessionId: string }, client: AgentContext) {
    await this.find(sessionId)?.close()
    const session = await this.#opened(place, client, sessionId)
    await session.replay()
    setImmediate(() => void session.offerCommands())
    return { modes: session.modes }
  }

  /** Sessions of one directory only. */
  async list(cwd: string) {
    const { projectAt } = await import('../assistant/project.ts')
    const { fileSessionStore } = await import('../../index.ts')
    const project = projectAt(cwd)
    const found = await latestSessions(fileSessionStore(project.sessions), project)
    const sessions = found.flatMap(({ summary: { sessionId, title, lastActiveAt, error } }) =>
      error === undefined
        ? [{ sessionId, cwd, updatedAt: new Date(lastActiveAt).toISOString(), ...(title !== undefined && { title }) }]
        : [],
    )
    return { sessions }
  }

  async end(sessionId: string) {
    await this.get(sessionId).close()
    this.#open.delete(sessionId)
    return {}
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((session) => session.close()))
    this.#open.clear()
  }

  async #opened({ cwd, mcpServers }: Place, client: AgentContext, resume: string | undefined): Promise<AcpSession> {
    if (this.#open.size >= mostOpen)
      throw RequestError.invalidRequest(undefined, `${mostOpen} sessions are open, which is the limit. Close one.`)
    const { args, logger } = this.#options
    let id = resume ?? ''
    const files = this.#editorFiles(client, () => id)
    const assistant = await openAssistant(
      { ...args, ...(resume !== undefined && { resume }) },
      { isLive: false, logger, directory: cwd, through: (workspace) => new EditorWorkspace(workspace, files) },
    )
    id = assistant.agent.sessionId
    try {
      const { tools, sets, closers } = await connectServers(mcpServers, assistant.root, logger)
      assistant.agent.setTools([...assistant.agent.settings.tools, ...tools])
      const loops = await recordedLoops(assistant)
      const session = new AcpSession(assistant, {
        ...{ client, capabilities: this.capabilities, closers, loops },
        servers: [assistant.servers, mcpMentions(sets)],
      })
      this.#open.set(id, session)
      return session
    } catch (error) {
      await assistant.close()
      throw error
    }
  }

  #editorFiles(client: AgentContext, sessionId: () => string): EditorFiles {
    const { readTextFile, writeTextFile } = this.capabilities.fs ?? {}
    const on = methods.client.fs
    return {
      ...(readTextFile === true && {
        read: async (path: string, signal: AbortSignal | undefined) => {
          const asked = client.request(on.readTextFile, { sessionId: sessionId(), path }, signal && { cancellationSignal: signal })
          return asked.then(({ content }) => content).catch(() => undefined)
        },
      }),
      ...(writeTextFile === true && {
        write: async (path: string, content: string, signal: AbortSignal | undefined) => {
          await client.request(on.writeTextFile, { sessionId: sessionId(), path, content }, signal && { cancellationSignal: signal })
        },
      }),
    }
  }
}

/** Server tools, and a function that disconnects the servers. */
export interface ConnectedServers {
  tools: AgentTool[]
  sets: McpToolSet[]
  closers: (() => Promise<void>)[]
}

/**
 * Connects to an editor's MCP servers. Their calls need approval, and they can elicit input. If a server is unreachable, closes all servers
 * and rejects.
 */
async function connectServers(servers: readonly McpServer[], root: string, logger: Logger): Promise<ConnectedServers> {
  const connected: ConnectedServers = { tools: [], sets: [], closers: [] }
  try {
    for (const server of servers) {
      const tools = await mcpTools(await connectTo(server, root, logger), { prefix: server.name, logger })
      connected.closers.push(() => tools.close())
      connected.sets.push(tools)
      connected.tools.push(...tools.map((tool) => ({ ...tool, needsApproval: true })))
    }
    return connected
  } catch (error) {
    await Promise.allSettled(connected.closers.map((close) => close()))
    throw error
  }
}

/** Loads the SDK only if there are servers. */
async function connectTo(server: McpServer, root: string, logger: Logger) {
  if ('command' in server) {
    const { connectMcpStdio } = await import('../../mcp/index.ts')
    const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]))
    return connectMcpStdio({ command: server.command, args: server.args, env, cwd: root, onElicit: 'event', logger })
  }
  const { connectMcp } = await import('../../../mcp/index.ts')
  const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]))
  return connectMcp({ url: server.url, headers, onElicit: 'event', logger })
}
