import { raceAbort } from '../base/abort.ts'
import { aLogger } from '../base/argument-checks.ts'
import { logWarning } from '../base/log-warning.ts'
import { startTimer } from '../base/timer.ts'
import { errorText } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { checkOptions } from '../contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  aText,
  either,
  kind,
  listOf,
  type OptionTable,
  options as optionsOf,
  withMethods,
} from '../contract/shape/shape.ts'
import type { Logger } from '../types/logger.ts'
import type { ApprovalInfo } from '../types/run/question.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { isVisibleTo } from './apps/app-meta.ts'
import { appServer, type McpAppServer } from './apps/app-server.ts'
import { oneLine } from './call-result.ts'
import type { McpClientLike, McpTool } from './client-like.ts'
import { changesOf } from './features/changes.ts'
import { resourceTools } from './features/resource-tools.ts'
import { type McpServerFeatures, serverFeatures } from './features/server-features.ts'
import { instructionsOf } from './instructions.ts'
import { listTools } from './list-tools.ts'
import { agentTool, fingerprintOf, type ServerTool, type ToolSetting } from './server-tool.ts'
import { legalPrefix, prefixWords, toolName } from './tool-name.ts'
import { serverSchema } from './tool-schema.ts'

/** Timeouts for calls to a server. */
export interface McpCallTimeouts {
  /** Milliseconds for a call or a page of the list. Default: 30,000. */
  timeoutMs?: number
  /** Whether progress notifications restart `timeoutMs`. Default: true. */
  resetTimeoutOnProgress?: boolean
  /** Milliseconds for a whole call, regardless of progress. Default: 600,000, or `timeoutMs` if that is more. */
  totalTimeoutMs?: number
}

/** Options for `mcpTools`: which of a server's tools an agent gets, and how it may call them. */
export interface McpToolsOptions extends McpCallTimeouts {
  /** Prefix of every name, as `{prefix}__{name}`: 1 to 32 letters, digits, "-" and single "_". Give each server its own. Default: none. */
  prefix?: string
  /** Names as the server lists them, or a predicate. Default: all. */
  include?: readonly string[] | ((tool: McpTool) => boolean)
  /** Whether a call needs approval; overrides the server's hints. Default: tools that the server marks as destructive need it. */
  needsApproval?: boolean | ((tool: McpTool, args: JsonObject, info: ApprovalInfo) => boolean | Promise<boolean>)
  /** Adds the tools `list_resources` and `read_resource` for the model, if the server has resources. Default: false. */
  resourceTools?: boolean
  /** Logs unenforced schemas, skipped tools and changes. Default: none. */
  logger?: Logger
}

/** Changes of a server's tools, by the names that the model uses. */
export interface McpToolChange {
  added: string[]
  removed: string[]
  /** Tools whose description changed: the next call needs approval. */
  changed: string[]
}

/**
 * The tools of one server as a live array: it updates in place when the server changes its tools. An agent that uses it sees changes from
 * its next turn on.
 */
export interface McpToolSet extends ReadonlyArray<AgentTool>, McpServerFeatures, AsyncDisposable {
  /** The prefix from the options. */
  readonly prefix: string | undefined
  /** The server's instructions, at most 16,384 characters. Untrusted. `mcpInstructions` adds them to a prompt. */
  readonly instructions: string | undefined
  /**
   * Returns the app (`ui://`) that shows calls of a tool, by the name that the model uses; `undefined` if it has none. Returns the same object
   * until the tool changes. For `mountMcpApp`.
   */
  app(toolName: string): McpAppServer | undefined
  /** Reads the list again. Rejects with `McpError` and changes nothing if it cannot be read. */
  refresh(): Promise<McpToolChange>
  /**
   * Calls `listener` after every change and returns a function that unsubscribes. For agents that got a copy: `agent.configure({ tools:
   * [...own, ...set] })`.
   */
  subscribe(listener: (change: McpToolChange) => void): () => void
  /** Stops listening to the server and closes the client. */
  close(): Promise<void>
}

/** Milliseconds for a call. */
export const defaultCallMs = 30_000
/** Milliseconds for a call that makes progress. */
export const defaultTotalMs = 600_000

const callTimeouts: OptionTable<McpCallTimeouts> = {
  timeoutMs: aPositiveNumber,
  resetTimeoutOnProgress: aFlag,
  totalTimeoutMs: aPositiveNumber,
}

const mcpToolsOptions = optionsOf<McpToolsOptions>({
  prefix: kind(prefixWords, (value) => typeof value === 'string' && legalPrefix.test(value)),
  include: either(listOf(aText), aFunction),
  ...callTimeouts,
  needsApproval: either(aFlag, aFunction),
  resourceTools: aFlag,
  logger: aLogger,
})

const aClient = withMethods('a connected MCP client', 'request', 'callTool', 'getServerCapabilities', 'close')

/**
 * Returns the tools of a connected MCP server as agent tools.
 *
 * **Contract**
 * - Adapts names, schemas and results to every provider. Every call ends with a result or an error for the model, whatever the server
 *   sends.
 * - Several sets and agents may share a client.
 * - Rejects with `McpError` if the list cannot be read, and with `ConfigError` for invalid options.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const tools = await mcpTools(client, { prefix: 'files' })
 * const agent = new Agent({ model, tools, owns: [tools] })
 */
export async function mcpTools(client: McpClientLike, options: McpToolsOptions = {}): Promise<McpToolSet> {
  checkOptions(client, aClient, 'client')
  checkOptions(options, mcpToolsOptions)
  const source = new ToolSource(client, options)
  await source.refresh()
  const { list } = source
  const instructions = { get: () => instructionsOf(client) }
  return Object.assign(Object.defineProperty(list as AgentTool[] & Pick<McpToolSet, 'instructions'>, 'instructions', instructions), {
    prefix: options.prefix,
    ...serverFeatures(source.setting, options.logger),
    app: (toolName: string) => source.app(toolName),
    refresh: () => source.refresh(),
    subscribe: (listener: (change: McpToolChange) => void) => source.subscribe(listener),
    close: () => source.close(),
    [Symbol.asyncDispose]: () => source.close(),
  })
}

/** Maximum refreshes that a server can trigger between two calls. */
const maxRefreshes = 20
/** Milliseconds that a finished call waits for a tool list that changed with it. */
const settleMs = 2000

/** Tracks the tool list of a server. */
class ToolSource {
  readonly list: AgentTool[] = []
  readonly #client: McpClientLike
  readonly #options: McpToolsOptions
  readonly setting: ToolSetting
  /** By server name. Includes removed tools, so that one that comes back with changes is not treated as new. */
  readonly #known = new Map<string, ServerTool>()
  /** The tools that the server lists now, by its names, including those that only apps may call. */
  #listed: ReadonlyMap<string, ServerTool> = new Map()
  /** The same app for each question about a tool, until the tool changes. */
  readonly #apps = new WeakMap<AgentTool, McpAppServer>()
  readonly #listeners = new Set<(change: McpToolChange) => void>()
  readonly #warned = new Set<string>()
  #reading: Promise<McpToolChange> | undefined
  #isRead = false
  #isStale = false
  #refreshes = 0
  #isClosed = false

  constructor(client: McpClientLike, options: McpToolsOptions) {
    this.#client = client
    this.#options = options
    const { timeoutMs = defaultCallMs, resetTimeoutOnProgress = true, needsApproval } = options
    const { totalTimeoutMs = Math.max(defaultTotalMs, timeoutMs) } = options
    const limits = { timeoutMs, totalTimeoutMs }
    this.setting = { client, limits, resetTimeoutOnProgress, needsApproval, settled: (signal) => this.#settled(signal) }
    const before = client.fallbackNotificationHandler
    const onNotification: typeof before = async (notification) => {
      if (notification.method === 'notifications/tools/list_changed') this.#onChanged()
      await before?.call(client, notification)
    }
    client.fallbackNotificationHandler = onNotification
  }

  /** The same tools for each refresh, unless the server no longer has resources. */
  get #resourceTools(): readonly AgentTool[] {
    const tools = resourceTools(this.setting, (name) => toolName(this.#options.prefix, name))
    return tools.map((tool) => this.list.find(({ name }) => name === tool.name) ?? tool)
  }

  subscribe(listener: (change: McpToolChange) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  app(toolName: string): McpAppServer | undefined {
    const found = [...this.#listed.values()].find(({ tool }) => tool.name === toolName)
    if (found === undefined) return undefined
    const app =
      this.#apps.get(found.tool) ?? appServer(found, (name) => (this.#isClosed ? undefined : this.#listed.get(name)), this.setting)
    if (app !== undefined) this.#apps.set(found.tool, app)
    return app
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#listeners.clear()
    changesOf(this.#client).forget()
    await this.#client.close()
  }

  /** Serialized: a call during a refresh gets the next refresh. */
  refresh(): Promise<McpToolChange> {
    const read = () => this.#read()
    const reading = this.#reading === undefined ? read() : this.#reading.then(read, read)
    this.#reading = reading
    const over = () => {
      if (this.#reading === reading) this.#reading = undefined
    }
    reading.then(over, over)
    return reading
  }

  #onChanged(): void {
    this.#isStale = true
    if (this.#isClosed || this.#reading !== undefined || this.#refreshes >= maxRefreshes) return
    this.#refreshes += 1
    this.#isStale = false
    this.refresh()
      .catch((error) => this.#warn('mcpToolsNotRead', { error: oneLine(errorText(error), 500) }))
      .finally(() => {
        if (this.#isStale) this.#onChanged()
      })
  }

  async #settled(signal: AbortSignal): Promise<void> {
    this.#refreshes = 0
    if (this.#isStale) this.#onChanged()
    if (this.#reading === undefined) return
    let stopTimer: () => void = () => undefined
    const patience = new Promise<void>((resolve) => {
      stopTimer = startTimer(settleMs, resolve)
    })
    const read = this.#reading.then(
      () => undefined,
      () => undefined,
    )
    await raceAbort(Promise.race([read, patience]), signal).finally(stopTimer)
  }

  async #read(): Promise<McpToolChange> {
    const listed = await listTools(this.#client, this.setting.limits.timeoutMs)
    const isFirst = !this.#isRead
    this.#isRead = true
    const before = new Set(this.list.map(({ name }) => name))
    const change: McpToolChange = { added: [], removed: [], changed: [] }
    const tools = new Map<string, AgentTool>()
    const all = new Map<string, ServerTool>()
    if (this.#options.resourceTools === true) for (const tool of this.#resourceTools) tools.set(tool.name, tool)
    for (const info of listed) {
      if (!this.#isIncluded(info)) continue
      const name = toolName(this.#options.prefix, info.name)
      if (tools.has(name) || all.has(info.name)) {
        this.#warnOnce('mcpToolTwice', info.name, { tool: name })
        continue
      }
      const found = this.#toolOf(name, info, change)
      if (found === undefined) continue
      all.set(info.name, found)
      if (isVisibleTo('model', info)) tools.set(name, found.tool)
    }
    this.#listed = all
    change.added = [...tools.keys()].filter((name) => !before.has(name))
    change.removed = [...before].filter((name) => !tools.has(name))
    if (change.added.length + change.removed.length + change.changed.length === 0) return change
    this.list.splice(0, this.list.length, ...tools.values())
    if (!isFirst) this.#tell(change)
    return change
  }

  #isIncluded(info: McpTool): boolean {
    const { include } = this.#options
    if (include === undefined) return true
    return typeof include === 'function' ? include(info) === true : include.includes(info.name)
  }

  /** Returns the existing tool for `info`, or a new one if it changed, or `undefined` if it cannot be sent to a model. */
  #toolOf(name: string, info: McpTool, change: McpToolChange): ServerTool | undefined {
    const fingerprint = fingerprintOf(info)
    const known = this.#known.get(info.name)
    if (known !== undefined && known.fingerprint === fingerprint) {
      // May have a new outputSchema, which is not part of the fingerprint.
      known.info = info
      return known
    }
    const schema = serverSchema(info.inputSchema)
    if (schema === undefined) {
      this.#warnOnce('mcpToolLeftOut', info.name, { tool: name, why: 'inputSchema is not a schema, or is too large for a model.' })
      return undefined
    }
    if (schema.unchecked !== undefined)
      this.#warnOnce('mcpSchemaLeftToServer', info.name, { tool: name, why: oneLine(schema.unchecked, 500) })
    if (known === undefined) {
      const shared: Omit<ServerTool, 'tool'> = { info, fingerprint, agreed: fingerprint }
      const added: ServerTool = Object.assign(shared, { tool: agentTool(name, shared, schema, this.setting) })
      this.#known.set(info.name, added)
      return added
    }
    Object.assign(known, { info, fingerprint })
    known.tool = agentTool(name, known, schema, this.setting)
    if (isVisibleTo('model', info)) change.changed.push(name)
    return known
  }

  #tell(change: McpToolChange): void {
    this.#warn('mcpToolsChanged', { ...change })
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#warn('mcpListenerFailed', { error: errorText(error) })
      }
    }
  }

  #warnOnce(event: string, tool: string, fields: JsonObject): void {
    if (this.#warned.has(`${event} ${tool}`) || this.#warned.size > 2000) return
    this.#warned.add(`${event} ${tool}`)
    this.#warn(event, fields)
  }

  #warn(event: string, fields: JsonObject): void {
    const { logger, prefix } = this.#options
    logWarning(logger, event, { ...fields, ...(prefix !== undefined && { prefix }) })
  }
}
