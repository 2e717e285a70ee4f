import { raceAbort } from '../base/abort.ts'
import { aLogger } from '../base/argument-checks.ts'
import { sha256 } from '../base/hash.ts'
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
import { asToolName } from '../contract/tool/tool-result.ts'
import type { Logger } from '../types/logger.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { oneLine } from './call-result.ts'
import type { McpClientLike, McpTool } from './client-like.ts'
import { instructionsOf } from './instructions.ts'
import { listTools } from './list-tools.ts'
import { agentTool, fingerprintOf, type ServerTool, type ToolSetting } from './server-tool.ts'
import { serverSchema } from './tool-schema.ts'

/** Tool names that every provider accepts: a valid `isToolName` that begins as Gemini requires. */
const legal = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/
/** Suffix of a name that {@link toolName} changed. */
const marked = /_[0-9a-f]{12}$/

/** Rule for prefixes: no `__`, so that the first `__` of a name always ends the prefix. */
export const prefixWords = '1 to 32 letters, digits, "-" and single "_", the first a letter'
export const legalPrefix = /^(?=.{1,32}$)[a-zA-Z](?:_?[a-zA-Z0-9-])*$/

/**
 * Returns the name under which a model calls the tool `name` of a server: `{prefix}__{name}`.
 *
 * **Contract**: valid for every provider, and unique per prefix and name. A name that is invalid, too long, or looks like a changed one
 * keeps its valid characters and ends in twelve hex digits of its hash.
 */
function toolName(prefix: string | undefined, name: string): string {
  const whole = prefix === undefined ? name : `${prefix}__${name}`
  if (legal.test(whole) && !marked.test(whole)) return whole
  // As JSON, which keeps lone surrogates distinct.
  const kept = asToolName(whole).replace(/^(?![a-zA-Z_])/, '_')
  return `${kept.slice(0, 51)}_${sha256(JSON.stringify(whole)).slice(0, 12)}`
}

/** Timeouts for calls of a server. */
export interface McpCallTimeouts {
  /** Milliseconds for a call or a page of the list. Default: 30,000. */
  timeoutMs?: number
  /** Whether progress notifications restart `timeoutMs`. Default: true. */
  resetTimeoutOnProgress?: boolean
  /** Milliseconds for a whole call, regardless of progress. Default: 600,000, or `timeoutMs` if that is more. */
  totalTimeoutMs?: number
}

/** Options of `mcpTools`: which tools of a server an agent gets, and how it may call them. */
export interface McpToolsOptions extends McpCallTimeouts {
  /** Prefix of every name, as `{prefix}__{name}`: 1 to 32 letters, digits, "-" and single "_". Give each server its own. Default: none. */
  prefix?: string
  /** Names as the server lists them, or a predicate. Default: all. */
  include?: readonly string[] | ((tool: McpTool) => boolean)
  /** Whether a call needs approval; overrides the server's hints. Default: tools that the server marks as destructive need it. */
  needsApproval?: boolean | ((tool: McpTool, args: JsonObject) => boolean | Promise<boolean>)
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
export interface McpToolSet extends ReadonlyArray<AgentTool>, AsyncDisposable {
  /** The prefix from the options. */
  readonly prefix: string | undefined
  /** The server's instructions, at most 16,384 characters. Untrusted. `mcpInstructions` adds them to a prompt. */
  readonly instructions: string | undefined
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
  readonly #setting: ToolSetting
  /** By server name. Includes removed tools, so that one that comes back with changes is not treated as new. */
  readonly #known = new Map<string, ServerTool>()
  readonly #listeners = new Set<(change: McpToolChange) => void>()
  readonly #warned = new Set<string>()
  #reading: Promise<McpToolChange> | undefined
  #isStale = false
  #refreshes = 0
  #isClosed = false

  constructor(client: McpClientLike, options: McpToolsOptions) {
    this.#client = client
    this.#options = options
    const { timeoutMs = defaultCallMs, resetTimeoutOnProgress = true, needsApproval } = options
    const { totalTimeoutMs = Math.max(defaultTotalMs, timeoutMs) } = options
    const limits = { timeoutMs, totalTimeoutMs }
    this.#setting = { client, limits, resetTimeoutOnProgress, needsApproval, settled: (signal) => this.#settled(signal) }
    const before = client.fallbackNotificationHandler
    const onNotification: typeof before = async (notification) => {
      if (notification.method === 'notifications/tools/list_changed') this.#onChanged()
      await before?.call(client, notification)
    }
    client.fallbackNotificationHandler = onNotification
  }

  subscribe(listener: (change: McpToolChange) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#listeners.clear()
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
    const listed = await listTools(this.#client, this.#setting.limits.timeoutMs)
    const isFirst = this.#known.size === 0
    const before = new Set(this.list.map(({ name }) => name))
    const change: McpToolChange = { added: [], removed: [], changed: [] }
    const tools = new Map<string, AgentTool>()
    for (const info of listed) {
      if (!this.#isIncluded(info)) continue
      const name = toolName(this.#options.prefix, info.name)
      if (tools.has(name)) {
        this.#warnOnce('mcpToolTwice', info.name, { tool: name })
        continue
      }
      const tool = this.#toolOf(name, info, change)
      if (tool !== undefined) tools.set(name, tool)
    }
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

  /** Returns the existing tool for `info`, or a new one if it changed; `undefined` if it cannot be sent to a model. */
  #toolOf(name: string, info: McpTool, change: McpToolChange): AgentTool | undefined {
    const fingerprint = fingerprintOf(info)
    const known = this.#known.get(info.name)
    if (known !== undefined && known.fingerprint === fingerprint) return known.tool
    const schema = serverSchema(info.inputSchema)
    if (schema === undefined) {
      this.#warnOnce('mcpToolLeftOut', info.name, { tool: name, why: 'The inputSchema is no schema, or is too large for a model.' })
      return undefined
    }
    if (schema.unchecked !== undefined)
      this.#warnOnce('mcpSchemaLeftToServer', info.name, { tool: name, why: oneLine(schema.unchecked, 500) })
    if (known === undefined) {
      const shared: Omit<ServerTool, 'tool'> = { info, fingerprint, agreed: fingerprint }
      const added: ServerTool = Object.assign(shared, { tool: agentTool(name, shared, schema, this.#setting) })
      this.#known.set(info.name, added)
      return added.tool
    }
    Object.assign(known, { info, fingerprint })
    known.tool = agentTool(name, known, schema, this.#setting)
    change.changed.push(name)
    return known.tool
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
