import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  type LoggingLevel,
  LoggingLevelSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { raceAbort } from '../../../src/base/abort.ts'
import { logWarning } from '../../../src/base/log-warning.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { ownOf } from '../../../src/contract/json.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { withMethods } from '../../../src/contract/shape/shape.ts'
import { Agent, type AgentRun, type AgentTool, type JsonObject, type PromptOptions } from '../../../src/index.ts'
import { scripted } from '../../../testing/index.ts'
import { unusedValidator } from '../unused-validator.ts'
import { answerOf, failure, resultOf } from './call-content.ts'
import { askCaller } from './caller-questions.ts'
import {
  checkServer,
  type McpCaller,
  type McpServerOptions,
  promptOffers,
  resourceOffers,
  skillNameIn,
  skillText,
  toolOffers,
} from './offers.ts'
import { reportTo } from './run-reports.ts'

type RunContext = Pick<PromptOptions, 'context'>

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** The protocol's error code, which the SDK does not export. */
const resourceNotFound = -32002

/**
 * One connection to a server: the SDK's `Server` with the tools, agents and skills from `options`. Connect it to a transport. All calls
 * stop when the transport closes.
 *
 * Source: docs/guides/mcp.md
 */
export class McpServing {
  readonly server: Server
  readonly #options: McpServerOptions
  readonly #caller: McpCaller
  #running = 0
  /** Minimum level of log messages for the client. */
  #level: LoggingLevel = 'info'

  constructor(options: McpServerOptions, caller: McpCaller) {
    this.#options = options
    this.#caller = caller
    const { name = 'phi-core', version = '1.0.0', instructions, agents = {}, tools = [], skills } = options
    const hasTools = tools.length > 0 || Object.keys(agents).length > 0
    this.server = new Server(
      { name, version },
      {
        capabilities: { logging: {}, ...(hasTools && { tools: {} }), ...(skills !== undefined && { prompts: {}, resources: {} }) },
        ...(instructions !== undefined && { instructions }),
        // The SDK's default validator generates code. Tools validate their own input.
        jsonSchemaValidator: unusedValidator,
      },
    )
    this.server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
      this.#level = params.level
      return {}
    })
    if (hasTools) this.#offerTools()
    if (skills !== undefined) this.#offerSkills()
  }

  /** Whether calls are active. */
  get isBusy(): boolean {
    return this.#running > 0
  }

  #offerTools(): void {
    const offered = toolOffers(this.#options)
    this.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered }))
    this.server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, extra) => {
      if (!offered.some((tool) => tool.name === name))
        throw new McpError(ErrorCode.InvalidParams, `Tool ${JSON.stringify(name.slice(0, 100))} not found`)
      const { maxCalls = 16 } = this.#options
      if (this.#running >= maxCalls) return failure(`The limit of ${maxCalls} concurrent calls is reached. Wait for one to end.`)
      this.#running += 1
      try {
        // Arguments come from JSON.
        return await this.#call(name, args as JsonObject, extra)
      } finally {
        this.#running -= 1
      }
    })
  }

  async #call(name: string, args: JsonObject, extra: Extra): Promise<CallToolResult> {
    const { agents = {}, tools = [] } = this.#options
    const tool = tools.find((each) => each.name === name)
    const { prompt } = args
    if (tool === undefined && (typeof prompt !== 'string' || prompt.trim() === '')) return failure('prompt must be a non-empty string.')
    const { signal } = extra
    const own = await this.#orLogged(signal, () => raceAbort(this.#contextOf(name, extra), signal))
    if (own === undefined) return failure("The call failed to start. The server's log has the reason.")
    const options = { ...own, signal }
    if (tool !== undefined) return toolAnswer(await this.#follow(callOf(tool, args, options), extra).result)
    const agent = await this.#orLogged(signal, async () => ownOf(agents, name)?.agent(this.#caller))
    if (agent === undefined) return failure("The agent failed to start. The server's log has the reason.")
    return answerOf(await this.#follow(agent.prompt(String(prompt), options), extra).result)
  }

  /** Returns the context of a call as a prompt option. */
  async #contextOf(toolName: string, { requestInfo }: Extra): Promise<RunContext> {
    const headers = new Headers()
    for (const [name, value] of Object.entries(requestInfo?.headers ?? {}))
      for (const each of [value ?? []].flat()) headers.append(name, each)
    const context = await this.#options.context?.({ ...this.#caller, toolName, headers })
    return context === undefined ? {} : { context }
  }

  /** Resolves like `make`. If it fails, logs the reason and resolves with `undefined`. Logs no canceled calls. */
  async #orLogged<Value>(signal: AbortSignal, make: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await make()
    } catch (error) {
      if (!signal.aborted) logWarning(this.#options.logger, 'agentFailed', { message: errorText(error) })
      return undefined
    }
  }

  /** Reports a run's progress to the client, and forwards the run's requests to the client's user. */
  #follow(run: AgentRun, { sendNotification, sendRequest, signal, _meta }: Extra): AgentRun {
    const levels = LoggingLevelSchema.options
    reportTo(run, {
      notify: sendNotification,
      progressToken: _meta?.progressToken,
      wants: (level) => levels.indexOf(level) >= levels.indexOf(this.#level),
    })
    const { askTimeoutMs: timeout = 300_000 } = this.#options
    askCaller(run, {
      capabilities: this.server.getClientCapabilities()?.elicitation,
      elicit: (params) =>
        sendRequest({ method: 'elicitation/create', params: params as ElicitParams }, ElicitResultSchema, { signal, timeout }),
    })
    return run
  }

  #offerSkills(): void {
    const { server } = this
    server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: promptOffers(this.#options) }))
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: resourceOffers(this.#options) }))
    server.setRequestHandler(GetPromptRequestSchema, async ({ params: { name, arguments: args } }, { signal }) => {
      const text = await skillText(this.#options, name, signal)
      if (text === undefined) throw new McpError(ErrorCode.InvalidParams, `Prompt ${JSON.stringify(name.slice(0, 100))} not found`)
      const task = args?.task ?? ''
      const messages = [text, task].filter((part) => part !== '')
      return { messages: messages.map((part) => ({ role: 'user' as const, content: { type: 'text' as const, text: part } })) }
    })
    server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, { signal }) => {
      const name = skillNameIn(uri)
      const text = name === undefined ? undefined : await skillText(this.#options, name, signal)
      if (text === undefined) throw new McpError(resourceNotFound, `Resource ${JSON.stringify(uri.slice(0, 200))} not found`)
      return { contents: [{ uri, mimeType: 'text/markdown', text }] }
    })
  }
}

type ElicitParams = Extract<ServerRequest, { method: 'elicitation/create' }>['params']

/** Runs one tool call in its own run. Validation, approval and timeout are the same as in any run. */
function callOf(tool: AgentTool, args: JsonObject, options: RunContext & { signal: AbortSignal }): AgentRun {
  const model = scripted([{ toolCalls: [{ name: tool.name, arguments: args }] }, { text: 'Done.' }])
  return new Agent({ model, tools: [tool], contextManagement: false, logger: false }).prompt('Call it.', options)
}

function toolAnswer({ messages, error }: Awaited<AgentRun['result']>): CallToolResult {
  const result = messages.find((message) => message.role === 'toolResult')
  return result?.role === 'toolResult' ? resultOf(result) : failure(error?.message ?? 'The call was stopped before it had a result.')
}

/** A server that is connected to one client. */
export interface McpServerConnection extends AsyncDisposable {
  /** Resolves when the connection has ended, from either side. */
  readonly ended: Promise<void>
  /** Closes the connection and stops its calls. */
  close(): Promise<void>
}

const aTransport = withMethods('a transport of the SDK', 'start', 'send', 'close')

/**
 * Serves agents, tools and skills to one client over any SDK transport.
 *
 * **Contract**
 * - Trusts the client on the other end, such as the program that started this one.
 * - Stops its calls when the connection ends.
 * - Throws `ConfigError` `invalidOption` for an invalid option. Rejects with the transport's error.
 *
 * Source: docs/guides/mcp.md
 */
export async function connectMcpServer(transport: Transport, options: McpServerOptions): Promise<McpServerConnection> {
  checkOptions(transport, aTransport, 'transport')
  checkServer(options)
  const { server } = new McpServing(options, {})
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  await server.connect(transport)
  const close = () => server.close()
  return { ended, close, [Symbol.asyncDispose]: close }
}
