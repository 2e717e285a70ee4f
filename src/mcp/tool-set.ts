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

/** What every service takes as the name of a tool without a spelling of its own: as `isToolName`, and beginning as Gemini wants it. */
const legal = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/
/** What {@link toolName} ends a name with that it had to change. */
const marked = /_[0-9a-f]{12}$/

/** What a prefix may be: without `__`, so that nothing but the first of them ends it. */
export const prefixWords = '1 to 32 letters, digits, "-" and single "_", the first a letter'
export const legalPrefix = /^(?=.{1,32}$)[a-zA-Z](?:_?[a-zA-Z0-9-])*$/

/**
 * The name under which a model calls the tool `name` of a server: `{prefix}__{name}`.
 *
 * **Contract**: legal for every provider, and different for different names and prefixes. A name that is not legal, is too long, or looks like
 * one of these, keeps what of it is legal and ends in twelve digits of its hash.
 */
function toolName(prefix: string | undefined, name: string): string {
  const whole = prefix === undefined ? name : `${prefix}__${name}`
  if (legal.test(whole) && !marked.test(whole)) return whole
  // As JSON, in which halves of characters differ from one another.
  const kept = asToolName(whole).replace(/^(?![a-zA-Z_])/, '_')
  return `${kept.slice(0, 51)}_${sha256(JSON.stringify(whole)).slice(0, 12)}`
}

/** How long a call of a server may take. */
export interface McpCallTimeouts {
  /** Milliseconds for a call, and for a page of the list. Default 30,000. */
  timeoutMs?: number
  /** Whether progress that the server sends restarts the time of a call. Default true. */
  resetTimeoutOnProgress?: boolean
  /** Milliseconds for a whole call, whatever progress it makes. Default 600,000, or `timeoutMs` if that is more. */
  totalTimeoutMs?: number
}

/** Which tools of a server an agent gets, and on what terms. */
export interface McpToolsOptions extends McpCallTimeouts {
  /** Stands before every name, as `{prefix}__{name}`: 1 to 32 letters, digits, "-" and single "_". Give each server one. Default: none. */
  prefix?: string
  /** Names, as the server calls them, or a test. Default: all. */
  include?: readonly string[] | ((tool: McpTool) => boolean)
  /** Whether a person is asked before a call; wins over what the server says. Default: where the server says that a tool is destructive. */
  needsApproval?: boolean | ((tool: McpTool, args: JsonObject) => boolean | Promise<boolean>)
  /** Told what is left to the server, what is left out, and what changed. Default: silence. */
  logger?: Logger
}

/** What a server changed, by the names the model uses. */
export interface McpToolChange {
  added: string[]
  removed: string[]
  /** Described in another way than before: a person is asked before the next call. */
  changed: string[]
}

/** The tools of one server. It is a list, and stays the same list when the server changes its tools: an agent that was given it sees them from its next turn on. */
export interface McpToolSet extends ReadonlyArray<AgentTool>, AsyncDisposable {
  /** As in the options. */
  readonly prefix: string | undefined
  /** What the server says of how it is used, at most 16,384 characters of it; it is not trusted. `mcpInstructions` puts it into a prompt. */
  readonly instructions: string | undefined
  /** Reads the list again. Rejects with `McpError`, and changes nothing, when it cannot be read. */
  refresh(): Promise<McpToolChange>
  /** Calls `listener` after every change; returns how to stop. For agents that were given a copy: `agent.configure({ tools: [...own, ...set] })`. */
  subscribe(listener: (change: McpToolChange) => void): () => void
  /** Stops following the server and closes the client. */
  close(): Promise<void>
}

/** Milliseconds for a call of a server. */
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
 * The tools of the server that `client` is connected to, as an agent takes them.
 *
 * **Contract**
 * - Names, schemas and results are made fit for every provider; whatever the server sends, a call ends with a result for the model, or an error one.
 * - Several sets, and several agents, may share a client.
 * - Rejects with `McpError` when the list cannot be read, and with `ConfigError` for options that cannot work.
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

/** How often a server may have its list read between two calls: it says when. */
const maxRefreshes = 20
/** How long a finished call waits for the list that changed with it, in ms. */
const settleMs = 2000

/** Follows the list of a server. */
class ToolSource {
  readonly list: AgentTool[] = []
  readonly #client: McpClientLike
  readonly #options: McpToolsOptions
  readonly #setting: ToolSetting
  /** By the server's name; also those that went: one that comes back changed is no new one. */
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

  /** One at a time: who asks while the list is being read gets the next one. */
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

  /** The tool that is there for `info`, or a new one where it is not the same any more; undefined for one that no model can be sent. */
  #toolOf(name: string, info: McpTool, change: McpToolChange): AgentTool | undefined {
    const fingerprint = fingerprintOf(info)
    const known = this.#known.get(info.name)
    if (known !== undefined && known.fingerprint === fingerprint) return known.tool
    const schema = serverSchema(info.inputSchema)
    if (schema === undefined) {
      this.#warnOnce('mcpToolLeftOut', info.name, { tool: name, why: 'Its inputSchema is no schema, or larger than a model can be sent.' })
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
