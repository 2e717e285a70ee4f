import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  type CreateMessageRequest,
  CreateMessageRequestSchema,
  type CreateMessageResult,
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { aLogger } from '../../src/base/argument-checks.ts'
import { namedPage } from '../../src/base/http-answer.ts'
import { logWarning } from '../../src/base/log-warning.ts'
import { withoutSecrets } from '../../src/base/text/secrets.ts'
import { timerMs } from '../../src/base/timer.ts'
import { errorText } from '../../src/contract/errors.ts'
import { checkOptions } from '../../src/contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  aText,
  either,
  kind,
  listOf,
  type OptionTable,
  oneOf,
  options as optionsOf,
  required,
  withMethods,
} from '../../src/contract/shape/shape.ts'
import type { Logger } from '../../src/index.ts'
import { mcpErrorCode } from '../../src/internal.ts'
import { appExtension, appMimeType } from '../../src/mcp/apps/app-meta.ts'
import type { McpClientLike, McpRequestOptions, McpResultSchema } from '../../src/mcp/client-like.ts'
import { McpError } from '../../src/mcp/mcp-error.ts'
import { escapeControls } from '../../src/store.ts'
import { AskingCalls } from './asking-calls.ts'
import { unusedValidator } from './unused-validator.ts'

/** Options for every MCP connection. */
export interface McpConnectOptions {
  /** Name and version sent to the server. Default: `phi-core`. */
  clientInfo?: { name: string; version: string }
  /** Timeout for connecting and initializing, in milliseconds. Default: 30,000. */
  connectTimeoutMs?: number
  /**
   * Handles elicitation requests during a call. If set, the client announces the capability. With `'event'`, the call's run emits
   * `inputRequested`.
   */
  onElicit?: 'event' | ((request: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult> | ElicitResult)
  /** Handles sampling requests. If set, the client announces the capability. */
  onSample?: (request: CreateMessageRequest['params'], signal: AbortSignal) => Promise<CreateMessageResult> | CreateMessageResult
  /** Folders that the server should stay in. The client returns them for `roots/list` requests. Default: an empty list. */
  roots?: readonly McpRoot[]
  /** Announces that this client shows apps (`ui://` resources), so that servers offer them. Show them with `mountMcpApp`. Default: false. */
  apps?: boolean
  /** Logs the server's protocol errors, and reconnects. Default: none. */
  logger?: Logger | false
}

/** A root for a server: a `file:` URL and a display name. */
export interface McpRoot {
  uri: string
  name?: string
}

/** A connection to one server, for `mcpTools`. */
export interface McpConnection extends McpClientLike, AsyncDisposable {
  /** The server's instructions, without control characters. They are untrusted. */
  readonly instructions: string | undefined
}

/** How to reach a server. */
export interface McpRoute {
  /**
   * Creates a new transport without starting it. Called again for a reconnect. `attempt` counts up from 0 each time `isOther` returns
   * `true`.
   */
  open(attempt: number): Promise<Transport> | Transport
  /** Returns whether the first attempt's error means that the server uses another transport. Default: never. */
  isOther?(error: unknown): boolean
  /** Returns whether an error means that the server lost the session and did nothing. Default: never. */
  isForgotten?(error: unknown): boolean
  /** Returns whether an error means that the call broke and its outcome is unknown. Default: never. */
  isBrokenOff?(error: unknown): boolean
  /** Ends the session before the transport is closed, within a second. Default: nothing. */
  end?(): Promise<unknown>
  /** Returns a hint for the first attempt's error, as a sentence. Default: check the URL. */
  advise?(error: unknown): string
  /** Returns the last lines of the server's standard error, for the error message of a failed connection. Default: none. */
  lastLines?(): readonly string[]
  /** Returns secrets that no error and no log may contain. */
  secrets?(): Promise<readonly string[]> | readonly string[]
}

const aFileAddress = kind('a file: URL', (value) => typeof value === 'string' && URL.parse(value)?.protocol === 'file:')

/** Validators of {@link McpConnectOptions}, for option tables that include them. */
export const connectTable: OptionTable<McpConnectOptions> = {
  clientInfo: optionsOf<{ name: string; version: string }>({ name: required(aText), version: required(aText) }),
  connectTimeoutMs: aPositiveNumber,
  onElicit: either(oneOf('event'), aFunction),
  onSample: aFunction,
  apps: aFlag,
  roots: listOf(optionsOf<McpRoot>({ uri: required(aFileAddress), name: aText })),
  logger: aLogger,
}

const connectOptions = optionsOf<McpConnectOptions>(connectTable)
const aRoute = withMethods('a route', 'open')

/**
 * Connects to a server over any transport of the SDK.
 *
 * **Contract**
 * - If the connection breaks, the current call fails, and the next call reconnects once. If the server has lost the session, starts a new
 *   session immediately. Then lists the tools again.
 * - `close()` closes the transport, and every later call rejects.
 * - Rejects with `McpError` `connection` or `unauthorized` if it cannot connect. Then leaves no connection open.
 *
 * Source: docs/guides/mcp.md
 */
export async function connectMcpOver(route: McpRoute, options: McpConnectOptions = {}): Promise<McpConnection> {
  checkOptions(route, aRoute, 'route')
  checkOptions(options, connectOptions)
  const connection = new Connection(route, options)
  await connection.live()
  return connection
}

/** Error text for a connection that the server dropped, probably because it restarted. */
const brokenOff = 'The server dropped the connection mid-call, probably because of a restart.'
const closed = 'The server closed the connection mid-call.'
const unknownOutcome = 'It is unknown whether the call ran.'

/**
 * The SDK's error code for all active calls when the transport has closed, for example when the program of a stdio server has
 * ended.
 */
const connectionClosed = -32000

/** Maximum number of logged errors per connection. */
const maxLines = 50

type ConnectedClient = McpClientLike & Pick<Client, 'transport' | 'getInstructions'>

class Connection implements McpConnection {
  fallbackNotificationHandler?: (notification: { method: string }) => Promise<void>
  onReconnected?: () => void
  readonly #route: McpRoute
  readonly #options: McpConnectOptions
  readonly #asking = new AskingCalls()
  #client: ConnectedClient | undefined
  #opening: Promise<ConnectedClient> | undefined
  #attempt = 0
  #lines = 0
  #isClosed = false

  constructor(route: McpRoute, options: McpConnectOptions) {
    this.#route = route
    this.#options = options
  }

  get instructions(): string | undefined {
    const given = this.#client?.getInstructions()
    return given === undefined ? undefined : escapeControls(given)
  }

  getInstructions(): string | undefined {
    return this.instructions
  }

  getServerCapabilities(): ReturnType<McpClientLike['getServerCapabilities']> {
    return this.#client?.getServerCapabilities()
  }

  request(
    request: { method: string; params?: Record<string, unknown> },
    schema: McpResultSchema,
    options?: McpRequestOptions,
  ): Promise<unknown> {
    return this.#send((client) => client.request(request, schema, options), options?.isRepeatable)
  }

  async callTool(...[params, schema, options = {}]: Parameters<McpClientLike['callTool']>): Promise<unknown> {
    const { options: sent, end } = this.#asking.begin(options)
    try {
      return await this.#send((client) => client.callTool(params, schema, sent), options.isRepeatable)
    } finally {
      end()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // An opening connection closes itself.
    await this.#opening?.catch(() => undefined)
    if (this.#client?.transport !== undefined && this.#route.end !== undefined) await atMost(1000, this.#route.end())
    await this.#client?.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Returns the connected client. Reconnects once if the connection broke. */
  async live(): Promise<ConnectedClient> {
    if (this.#isClosed) throw new McpError('connection', 'The connection to the MCP server was closed.')
    if (this.#client?.transport !== undefined) return this.#client
    const opening = this.#opening ?? this.#open()
    this.#opening = opening
    try {
      return await opening
    } finally {
      if (this.#opening === opening) this.#opening = undefined
    }
  }

  async #send(send: (client: ConnectedClient) => Promise<unknown>, isRepeatable = false): Promise<unknown> {
    const client = await this.live()
    try {
      return await send(client)
    } catch (error) {
      if (this.#isClosed) throw await this.#failure(error)
      if (this.#route.isForgotten?.(error) === true) {
        await client.close()
        return this.#sendAgain(send)
      }
      const why = await this.#brokenOff(error, client)
      if (why === undefined) throw await this.#failure(error)
      if (!isRepeatable) throw new McpError('connection', why)
      return this.#send(send).catch(async (second) => {
        throw new McpError('connection', `${why} The retry failed: ${await this.#clean(second)}`)
      })
    }
  }

  /** Returns the error text for a call that was sent but received no response, otherwise `undefined`. */
  async #brokenOff(error: unknown, client: ConnectedClient): Promise<string | undefined> {
    if (this.#route.isBrokenOff?.(error) === true) return `${brokenOff} ${unknownOutcome}`
    // A server may send this code too, but then its transport is still open.
    if (Object(error).code !== connectionClosed || client.transport !== undefined) return undefined
    return `${closed}${await this.#lastLines()} ${unknownOutcome}`
  }

  async #lastLines(): Promise<string> {
    const lines = this.#route.lastLines?.() ?? []
    return lines.length === 0 ? '' : ` Its last lines: ${await this.#clean(lines.join(' | '))}`.replace(/[.!?]?$/, '.')
  }

  async #sendAgain(send: (client: ConnectedClient) => Promise<unknown>): Promise<unknown> {
    const client = await this.live()
    return send(client).catch(async (error) => {
      const why = await this.#brokenOff(error, client)
      throw why === undefined ? await this.#failure(error) : new McpError('connection', why)
    })
  }

  async #open(): Promise<ConnectedClient> {
    const wasThere = this.#client !== undefined
    try {
      this.#client = await this.#connect()
    } catch (error) {
      if (this.#attempt > 0 || this.#route.isOther?.(error) !== true) throw await this.#unreached(error)
      this.#attempt = 1
      this.#client = await this.#connect().catch(async (second) => {
        this.#attempt = 0
        throw await this.#unreached(second, error)
      })
    }
    if (this.#isClosed) {
      await this.#client.close()
      throw new McpError('connection', 'The connection to the MCP server was closed.')
    }
    if (wasThere) {
      this.#log('mcpReconnected', {})
      // The new process may be another version with different tools.
      this.fallbackNotificationHandler?.({ method: 'notifications/tools/list_changed' }).catch(() => undefined)
      this.onReconnected?.()
    }
    return this.#client
  }

  async #connect(): Promise<ConnectedClient> {
    const {
      clientInfo = { name: 'phi-core', version: '0.1.0' },
      connectTimeoutMs = 30_000,
      onElicit,
      onSample,
      roots = [],
      apps,
    } = this.#options
    // The event handler or the SDK applies form defaults.
    const elicitation = onElicit === 'event' ? { form: {}, url: {} } : { form: { applyDefaults: true } }
    const extensions = { [appExtension]: { mimeTypes: [appMimeType] } }
    const capabilities = { roots: {}, ...(onElicit && { elicitation }), ...(onSample && { sampling: {} }), ...(apps && { extensions }) }
    const client = new Client(clientInfo, { capabilities, jsonSchemaValidator: unusedValidator })
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots.map((root) => ({ ...root })) }))
    if (onElicit) client.setRequestHandler(ElicitRequestSchema, (request, { signal }) => this.#elicit(request.params, signal))
    if (onSample) client.setRequestHandler(CreateMessageRequestSchema, (request, { signal }) => onSample(request.params, signal))
    client.fallbackNotificationHandler = async (notification) => this.fallbackNotificationHandler?.(notification)
    const transport = await this.#route.open(this.#attempt)
    try {
      await client.connect(transport, { timeout: timerMs(connectTimeoutMs) })
      // Earlier errors reject the connection.
      client.onerror = (error) => void this.#logError(error)
    } catch (error) {
      await transport.close().catch(() => undefined)
      throw error
    }
    return client
  }

  async #elicit(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const { onElicit } = this.#options
    if (typeof onElicit !== 'function') {
      const answer = await this.#asking.ask(params, signal)
      if (answer === undefined) this.#log('mcpQuestionNotAsked', { error: 'No call is active, or calls of several agents are.' })
      return answer ?? { action: 'cancel' }
    }
    return this.#asking.pausing(() => onElicit(params, signal), signal)
  }

  /** Creates the error for a failed connection. `first` is the other transport's error, if another transport was tried before. */
  async #unreached(error: unknown, first?: unknown): Promise<unknown> {
    if (McpError.isInstance(error)) return error
    const code = mcpErrorCode(error)
    const why = await this.#clean(error)
    if (code !== 'connection') return new McpError(code, `Cannot connect: ${why}`)
    const tried = first === undefined ? why : `neither Streamable HTTP (${await this.#clean(first)}) nor SSE (${why}) is supported`
    const advice = this.#route.advise?.(error) ?? 'Check the server URL.'
    return new McpError(code, `Cannot connect: ${tried.replace(/\.$/, '')}.${await this.#lastLines()} ${advice}`)
  }

  /** Creates an error without `cause`, because SDK errors may contain secrets. */
  async #failure(error: unknown, before = ''): Promise<unknown> {
    if (McpError.isInstance(error)) return error
    return new McpError(mcpErrorCode(error), before + (await this.#clean(error)))
  }

  async #clean(error: unknown): Promise<string> {
    const secrets = (await this.#route.secrets?.()) ?? []
    return escapeControls(withoutSecrets(wordsOf(error), secrets).slice(0, 2000))
  }

  async #logError(error: Error): Promise<void> {
    if (this.#lines >= maxLines) return
    this.#lines += 1
    this.#log('mcpError', { error: (await this.#clean(error).catch(() => 'an error')).slice(0, 500) })
  }

  #log(event: string, fields: { error?: string }): void {
    logWarning(this.#options.logger, event, fields)
  }
}

/** Returns the text of an SDK error with its HTTP status. Does not quote an HTML page. */
function wordsOf(error: unknown): string {
  // A schema error's message is a list of issues as JSON.
  if (Array.isArray(Object(error).issues)) return 'the server sent an invalid MCP message'
  const text = errorText(error)
  const at = text.search(/<(?:!doctype html|html|head|body)\b/i)
  const words = at < 0 ? text : text.slice(0, at) + namedPage(text.slice(at, at + 8192).replace(/\s+/g, ' '))
  const status: unknown = Object(error).code
  const reason = String(Object(Object(error).cause).code)
  if (/^E[A-Z_]{2,30}$/.test(reason) && !words.includes(reason)) return `${words} (${reason})`
  return typeof status === 'number' && status >= 400 && !words.includes(String(status)) ? `${words} (${status})` : words
}

/** Waits up to `ms` for `work` to settle. */
function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms))
    const settle = () => {
      clearTimeout(timer)
      resolve()
    }
    work.then(settle, settle)
  })
}
