import { sha256 } from '../base/hash.ts'
import { escapeControls } from '../base/text/characters.ts'
import { timerMs } from '../base/timer.ts'
import { errorText, ToolError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ToolResult } from '../contract/tool/tool-result.ts'
import type { AgentTool, ToolContext } from '../types/tool/tool.ts'
import { CallClock, type CallLimits, type ExpiredLimit } from './call-clock.ts'
import { callResult, cutText, oneLine } from './call-result.ts'
import { anyResult, type McpClientLike, type McpProgress, type McpRequestOptions, type McpTool } from './client-like.ts'
import { elicitFrom } from './elicitation.ts'
import type { ServerSchema } from './tool-schema.ts'

/** Maximum characters of a description: every request contains it. */
const maxDescription = 16_384
/** Maximum progress lines per call. */
const maxProgress = 1000

/** State of a server's tool across changes of its description. */
export interface ServerTool {
  /** Its current description. */
  info: McpTool
  fingerprint: string
  /** The approved fingerprint, initially that of the first list. While the current one differs, every call needs approval. */
  agreed: string
  /** The fingerprint that the last approval was requested for. */
  asked?: string
  tool: AgentTool
}

/** Settings that the tools of a set share. */
export interface ToolSetting {
  client: McpClientLike
  limits: CallLimits
  /** Whether progress restarts `limits.timeoutMs`. */
  resetTimeoutOnProgress: boolean
  needsApproval: boolean | ((tool: McpTool, args: JsonObject) => boolean | Promise<boolean>) | undefined
  /** Resolves when pending changes of the server are known, or after a short time. */
  settled(signal: AbortSignal): Promise<void>
}

/** Returns a hash of everything that a user or a model bases a decision on. */
export function fingerprintOf({ name, title, description, inputSchema, annotations }: McpTool): string {
  return sha256(JSON.stringify([name, title, description, inputSchema, annotations]))
}

/** Creates the agent tool `name`. Every call reads `shared`, which outlives the tool. */
export function agentTool(name: string, shared: Omit<ServerTool, 'tool'>, schema: ServerSchema, setting: ToolSetting): AgentTool {
  const { info } = shared
  const { annotations: hints = {} } = info
  const rule = ruleOf(info, setting)
  const { unchecked: _why, ...parameters } = schema
  const tool: AgentTool = {
    name,
    label: oneLine(info.title ?? hints.title ?? info.name),
    description: cutText(info.description?.trim() || 'MCP tool (no description)', maxDescription),
    ...parameters,
    timeoutMs: Math.min(setting.limits.timeoutMs, setting.limits.totalTimeoutMs),
    ...(isRepeatable(info) && { idempotent: true }),
    execute: async (args, ctx) => {
      // The call was approved, unless the tool has changed since.
      if (shared.asked === shared.fingerprint) shared.agreed = shared.fingerprint
      return callServer(info, args, ctx, setting)
    },
  }
  const ask = () => {
    shared.asked = shared.fingerprint
    return true
  }
  // Read at every call. `undefined` if there is no rule: then the rule of the run applies.
  return Object.defineProperty(tool, 'needsApproval', { enumerable: true, get: () => (shared.agreed === shared.fingerprint ? rule : ask) })
}

/** Returns the caller's rule. Otherwise a tool that the server calls destructive needs approval, also if other hints contradict. */
function ruleOf(info: McpTool, { needsApproval }: ToolSetting): AgentTool['needsApproval'] {
  if (typeof needsApproval === 'function') return (args) => needsApproval(info, args)
  if (needsApproval !== undefined) return needsApproval
  return info.annotations?.destructiveHint === true ? true : undefined
}

function isRepeatable({ annotations: hints = {} }: McpTool): boolean {
  return hints.readOnlyHint === true || hints.idempotentHint === true
}

async function callServer(info: McpTool, args: JsonObject, ctx: ToolContext, setting: ToolSetting): Promise<ToolResult> {
  const { client, limits, settled } = setting
  // A signal of its own: clients listen to it after the call, and would report a later abort to the server.
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
    // Without `cause`, and with bounded length.
    throw expired ?? new ToolError('failed', cutText(escapeControls(errorText(error)), 2000))
  } finally {
    clock.stop()
    ctx.signal.removeEventListener('abort', abort)
  }
}

function callOptions(
  info: McpTool,
  ctx: ToolContext,
  { resetTimeoutOnProgress }: ToolSetting,
  { signal, clock }: { signal: AbortSignal; clock: CallClock },
): McpRequestOptions {
  const onelicit = elicitFrom(ctx)
  const tell = progressTo(ctx)
  const onprogress = (progress: McpProgress) => {
    if (resetTimeoutOnProgress) {
      clock.reset()
      // The loop has its own timeout.
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
    // The call clock decides: timeouts of clients cannot pause.
    timeout: timerMs(Infinity),
    isRepeatable: isRepeatable(info),
    ...(onelicit !== undefined && { onelicit, caller: ctx.loopId }),
  }
}

function expiredError(limit: ExpiredLimit, { limits, resetTimeoutOnProgress }: ToolSetting): ToolError {
  const what =
    limit === 'timeoutMs' && resetTimeoutOnProgress
      ? `The MCP server sent neither a result nor progress within ${limits.timeoutMs} ms`
      : `The MCP server did not finish within ${limits[limit]} ms${resetTimeoutOnProgress ? ', although it sent progress' : ''}`
  return new ToolError('timeout', `${what}: the call timed out and was cancelled. Whether it took effect is unknown.`)
}

/** Emits the server's progress messages as single lines, without repeats, up to a limit. */
function progressTo(ctx: ToolContext) {
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
