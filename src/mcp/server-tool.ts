import { sha256 } from '../base/hash.ts'
import { escapeControls } from '../base/text/characters.ts'
import { timerMs } from '../base/timer.ts'
import { errorText, ToolError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ToolResult } from '../contract/tool/tool-result.ts'
import type { ApprovalInfo } from '../types/run/question.ts'
import type { AgentTool, ToolContext } from '../types/tool/tool.ts'
import { formatIssues } from '../validation/format-issues.ts'
import { CallClock, type CallLimits, type ExpiredLimit } from './call-clock.ts'
import { callResult, cutText, oneLine, withoutDetails } from './call-result.ts'
import { anyResult, type McpClientLike, type McpProgress, type McpRequestOptions, type McpTool } from './client-like.ts'
import { elicitFrom } from './elicitation.ts'
import { outputCheck, type ServerSchema } from './tool-schema.ts'

/** Maximum characters of a description. Limited, because every request contains it. */
const maxDescription = 16_384
/** Maximum progress lines per call. */
const maxProgress = 1000

/** State of a server's tool that persists when the description changes. */
export interface ServerTool {
  /** The tool's current description. */
  info: McpTool
  fingerprint: string
  /** The approved fingerprint, initially from the first list. While the current fingerprint differs, every call requires approval. */
  agreed: string
  /** The fingerprint that the last approval was requested for. */
  asked?: string
  tool: McpAgentTool
}

/** The part of a call's context that a server's tool uses. Calls of apps have no run. */
export type CallContext = Pick<ToolContext, 'signal' | 'loopId' | 'progress'> &
  Partial<Pick<ToolContext, 'trace' | 'requestInput' | 'pauseTimeout' | 'restartTimeout'>>

/** A server's tool for an agent, which also runs outside a run. */
export interface McpAgentTool extends AgentTool {
  execute(args: JsonObject, ctx: CallContext): Promise<ToolResult>
}

/** Settings shared by all tools of a set. */
export interface ToolSetting {
  client: McpClientLike
  limits: CallLimits
  /** Whether progress restarts `limits.timeoutMs`. */
  resetTimeoutOnProgress: boolean
  needsApproval: boolean | ((tool: McpTool, args: JsonObject, info: ApprovalInfo) => boolean | Promise<boolean>) | undefined
  /** Resolves when the server's pending changes are loaded, or after a short time. */
  settled(signal: AbortSignal): Promise<void>
}

/** Returns a hash of all tool properties that influence a user's or model's decision. */
export function fingerprintOf({ name, title, description, inputSchema, annotations, ui }: McpTool): string {
  return sha256(JSON.stringify([name, title, description, inputSchema, annotations, ui]))
}

/** Creates the agent tool `name`. Every call reads `shared`, which outlives the tool. */
export function agentTool(name: string, shared: Omit<ServerTool, 'tool'>, schema: ServerSchema, setting: ToolSetting): McpAgentTool {
  const { info } = shared
  const { annotations: hints = {} } = info
  const rule = ruleOf(info, setting)
  const { unchecked: _why, ...parameters } = schema
  const tool: McpAgentTool = {
    name,
    label: oneLine(info.title ?? hints.title ?? info.name),
    description: cutText(info.description?.trim() || 'MCP tool (no description)', maxDescription),
    ...parameters,
    timeoutMs: Math.min(setting.limits.timeoutMs, setting.limits.totalTimeoutMs),
    ...(isRepeatable(info) && { idempotent: true }),
    execute: async (args, ctx) => {
      // The call was approved. Accepts the fingerprint, unless the tool has changed since the request.
      if (shared.asked === shared.fingerprint) shared.agreed = shared.fingerprint
      return withCheckedOutput(await callServer(shared.info, args, ctx, setting), shared)
    },
  }
  const ask = () => {
    shared.asked = shared.fingerprint
    return true
  }
  // Evaluated at every call. `undefined` without a rule, so that the run's rule applies.
  return Object.defineProperty(tool, 'needsApproval', { enumerable: true, get: () => (shared.agreed === shared.fingerprint ? rule : ask) })
}

/** Returns the caller's rule. Otherwise a tool that the server marks as destructive requires approval, even if other hints contradict. */
export function ruleOf(info: McpTool, { needsApproval }: ToolSetting): AgentTool['needsApproval'] {
  if (typeof needsApproval === 'function') return (args, given) => needsApproval(info, args, given)
  if (needsApproval !== undefined) return needsApproval
  return info.annotations?.destructiveHint === true ? true : undefined
}

function isRepeatable({ annotations: hints = {} }: McpTool): boolean {
  return hints.readOnlyHint === true || hints.idempotentHint === true
}

/**
 * Removes `details` that do not match the tool's `outputSchema`, and tells the model. The call has taken effect, so the rest of the result
 * stays.
 */
async function withCheckedOutput(result: ToolResult, { info }: Pick<ServerTool, 'info'>): Promise<ToolResult> {
  if (result.details === undefined || result.isError === true) return result
  const checked = await outputCheck(info.outputSchema)?.(result.details)
  if (checked?.issues === undefined) return result
  return withoutDetails(result, `does not match the tool's outputSchema: ${formatIssues(checked.issues, 'the value')}`)
}

async function callServer(info: McpTool, args: JsonObject, ctx: CallContext, setting: ToolSetting): Promise<ToolResult> {
  const { client, limits, settled } = setting
  // A separate signal, because clients keep listening to it after the call, and would report a later abort to the server.
  const call = new AbortController()
  const abort = () => call.abort('The call was cancelled.')
  if (ctx.signal.aborted) abort()
  ctx.signal.addEventListener('abort', abort, { once: true })
  let expired: ToolError | undefined
  const clock = new CallClock(limits, (limit) => {
    expired = expiredError(limit, setting)
    call.abort(expired.message)
  })
  const { name, inputSchema = { type: 'object' } } = info
  const options = callOptions(info, ctx, setting, { signal: call.signal, clock })
  try {
    const answer = await client.callTool(
      // As the OpenTelemetry conventions for MCP specify.
      { name, arguments: args, ...(ctx.trace !== undefined && { _meta: { ...ctx.trace } }) },
      { ...options, toolDefinition: { name, inputSchema }, safeParse: anyResult.safeParse },
      options,
    )
    clock.stop()
    await settled(ctx.signal)
    return callResult(answer)
  } catch (error) {
    // No `cause`, and limited length.
    throw expired ?? new ToolError('failed', cutText(escapeControls(errorText(error)), 2000))
  } finally {
    clock.stop()
    ctx.signal.removeEventListener('abort', abort)
  }
}

function callOptions(
  info: McpTool,
  ctx: CallContext,
  { resetTimeoutOnProgress }: ToolSetting,
  { signal, clock }: { signal: AbortSignal; clock: CallClock },
): McpRequestOptions {
  const onelicit = elicitFrom(ctx)
  const tell = progressTo(ctx)
  const onprogress = (progress: McpProgress) => {
    if (resetTimeoutOnProgress) {
      clock.reset()
      // The loop has its own timeout, which restarts too.
      ctx.restartTimeout?.()
    }
    tell(progress)
  }
  const pause = () => {
    const goOn = [clock.pause(), ctx.pauseTimeout?.()]
    return () => {
      for (const start of goOn) start?.()
    }
  }
  return {
    ...{ signal, onprogress, pause },
    // The call clock decides, because timeouts of clients cannot pause.
    timeout: timerMs(Infinity),
    isRepeatable: isRepeatable(info),
    ...(onelicit !== undefined && { onelicit, caller: ctx.loopId }),
  }
}

function expiredError(limit: ExpiredLimit, { limits, resetTimeoutOnProgress }: ToolSetting): ToolError {
  const what =
    limit === 'timeoutMs' && resetTimeoutOnProgress
      ? `The MCP server sent neither a result nor progress within ${limits.timeoutMs} ms`
      : `The MCP server did not finish within ${limits[limit]} ms${resetTimeoutOnProgress ? ', although it reported progress' : ''}`
  return new ToolError('timeout', `${what}: the call timed out and was cancelled. Whether it took effect is unknown.`)
}

/** Emits the server's progress messages as single lines, without repeats, up to a limit. */
function progressTo(ctx: CallContext) {
  let last = ''
  let count = 0
  return ({ progress, total, message }: McpProgress) => {
    const figures = typeof progress === 'number' ? `${progress}${typeof total === 'number' ? `/${total}` : ''}` : ''
    const line = [figures, message === undefined ? '' : oneLine(message, 500)].filter(Boolean).join(' ')
    if (line === last || line === '' || count >= maxProgress) return
    last = line
    count += 1
    ctx.progress(line)
  }
}
