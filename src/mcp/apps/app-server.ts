import { raceAbort } from '../../base/abort.ts'
import { argumentsFault } from '../../base/json/call-arguments.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { ToolError } from '../../contract/errors.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { jsonFault } from '../../contract/shape/json-fault.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ApprovalRule } from '../../types/run/question.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { formatIssues } from '../../validation/format-issues.ts'
import { checkArguments } from '../../validation/tool-parameters.ts'
import { oneLine } from '../call-result.ts'
import type { McpTool } from '../client-like.ts'
import { ask, need } from '../features/requests.ts'
import { checkUri } from '../features/resources.ts'
import { ruleOf, type ServerTool, type ToolSetting } from '../server-tool.ts'
import { isVisibleTo } from './app-meta.ts'
import { type McpAppResource, readApp } from './app-resource.ts'

/** Maximum characters of a resource that an app reads, as JSON. */
const maxResource = 4 * 1024 * 1024

/** A tool call of an app that needs an approval. `args` are exactly what will run. */
export interface McpAppCall {
  /** Name as the model knows it. */
  toolName: string
  /** Display name. Untrusted. */
  label: string
  args: JsonObject
}

/** Options of an app's request. The caller owns `signal`; `approve` decides calls that need an approval, and only `true` runs them. */
export interface McpAppRequestOptions {
  signal: AbortSignal
  approve(call: McpAppCall, signal: AbortSignal): boolean | Promise<boolean>
}

/**
 * The server of an app, as the app's frame may use it. `McpToolSet.app` returns one. Implement it yourself if the connection is elsewhere,
 * for example behind your own HTTP endpoint.
 *
 * **Contract**
 * - `read`, `call` and `readResource` reject with `ToolError` if the server fails, refuses or takes too long, or if the signal aborts.
 * - `call` runs only tools of this server that are listed now and visible to apps. It validates the arguments, applies the approval rule
 *   of the tool set, and limits time and result like a call of the model.
 *
 * Source: docs/guides/mcp-apps.md
 */
export interface McpAppServer {
  /** The tool whose calls the app shows, as the server lists it. Untrusted. */
  readonly tool: McpTool
  /** Reads the HTML of the app. */
  read(options?: { signal?: AbortSignal }): Promise<McpAppResource>
  /** Calls a tool by the server's name for it. */
  call(name: string, args: JsonObject, options: McpAppRequestOptions): Promise<ToolResult>
  /** Reads a resource of the server, and returns its `contents`. */
  readResource(uri: string, options: McpAppRequestOptions): Promise<JsonValue[]>
}

/**
 * Creates the server access for the app that shows calls to `tool`. Returns `undefined` if the tool has no app. `find` returns a listed
 * tool.
 */
export function appServer(
  { info }: ServerTool,
  find: (name: string) => ServerTool | undefined,
  setting: ToolSetting,
): McpAppServer | undefined {
  const uri = info.ui?.resourceUri
  if (uri === undefined) return undefined
  return {
    tool: info,
    read: ({ signal } = {}) => readApp(setting, uri, signal),
    call: async (name, args, options) => {
      const found = find(name)
      if (found === undefined || !isVisibleTo('app', found.info)) {
        throw new ToolError('failed', `The app cannot call "${oneLine(name)}": its server has no such tool for apps.`)
      }
      return callForApp(found.tool, args, options)
    },
    readResource: (given, options) => readForApp(given, options, setting),
  }
}

/** Validates, requests approval if required, and runs. The tool may change meanwhile: what was approved is what runs. */
async function callForApp(tool: ServerTool['tool'], given: JsonObject, { signal, approve }: McpAppRequestOptions): Promise<ToolResult> {
  const fault = argumentsFault(given)
  if (fault !== undefined) throw new ToolError('failed', `Invalid arguments: ${fault}`)
  const args = copyJson(given)
  const checked = await raceAbort(checkArguments(tool, copyJson(args)), signal)
  if (checked.issues !== undefined) throw new ToolError('failed', `Invalid arguments: ${formatIssues(checked.issues)}`)
  if (await needsApproval(tool.needsApproval, args, signal)) {
    await permit({ toolName: tool.name, label: tool.label, args: copyJson(args) }, { signal, approve })
  }
  signal.throwIfAborted()
  return tool.execute(checked.value, { signal, loopId: 'app', progress: () => undefined })
}

async function needsApproval(rule: ApprovalRule | undefined, args: JsonObject, signal: AbortSignal): Promise<boolean> {
  if (typeof rule !== 'function') return rule !== undefined && rule !== false
  try {
    return (await raceAbort(Promise.resolve(rule(copyJson(args), { context: undefined })), signal)) !== false
  } catch {
    // As in a run: a rule that fails requires an approval.
    return true
  }
}

async function permit(call: McpAppCall, { signal, approve }: McpAppRequestOptions): Promise<void> {
  signal.throwIfAborted()
  const isApproved = await raceAbort(Promise.resolve(approve(call, signal)), signal)
  if (isApproved !== true) throw new ToolError('failed', `The user denied the call of ${call.toolName}.`)
}

/** The tool that resources are read with, for the approval rule of the set. */
const readTool: McpTool & Pick<AgentTool, 'name'> = { name: 'read_resource', title: 'Read a resource', annotations: { readOnlyHint: true } }

async function readForApp(uri: string, { signal, approve }: McpAppRequestOptions, setting: ToolSetting): Promise<JsonValue[]> {
  checkUri(uri)
  need(setting, 'resources')
  const { name: toolName, title: label = toolName } = readTool
  const args = { uri }
  if (await needsApproval(ruleOf(readTool, setting), args, signal)) await permit({ toolName, label, args }, { signal, approve })
  const { contents } = await ask(setting, { method: 'resources/read', params: args }, signal)
  if (!isJsonList(contents) || JSON.stringify(contents).length > maxResource) {
    throw new ToolError('failed', `The resource "${oneLine(uri)}" has no contents, or more than ${maxResource} characters.`)
  }
  return contents
}

function isJsonList(value: unknown): value is JsonValue[] {
  return Array.isArray(value) && jsonFault(value, 'contents') === undefined
}
