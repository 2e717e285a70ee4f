import { raceAbort } from '../base/abort.ts'
import type { ToolCallContent } from '../types/content.ts'
import { errorText, JournalError } from '../types/errors.ts'
import type { JsonObject } from '../types/json.ts'
import type { AgentTool } from '../types/tool.ts'
import type { ToolResult } from '../types/tool-result.ts'
import { checkArguments } from '../validation/tool-parameters.ts'
import type { ApprovalOutcome } from './approve-call.ts'
import type { LoopRun } from './loop-run.ts'
import { type PreparedCall, runTool } from './run-tool.ts'
import { errorResult, type ToolResultEntry, toolResultEntry } from './tool-result.ts'

/**
 * Takes one call from request to result: find, validate, approve, ask the hook, journal the intent, run, journal the result.
 *
 * **Contract**
 * - Never rejects. Resolves with the message that answers the call, or `undefined` when the call waits for an approval.
 * - Emits exactly one `toolExecutionStart` and one `toolExecutionEnd` for every call that is answered.
 * - After the run was stopped or has failed, the tool is not run; the answer is `Cancelled`.
 */
export async function executeTool(run: LoopRun, call: ToolCallContent): Promise<ToolResultEntry | undefined> {
  try {
    if (run.signal.aborted) throw run.signal.reason
    const prepared = await prepare(run, call)
    if ('content' in prepared) return await answerWithoutRunning(run, call, prepared)
    const permitted = await permit(run, prepared)
    if (permitted === undefined) return undefined
    if ('content' in permitted) return await answerWithoutRunning(run, call, permitted)
    await run.record({
      type: 'toolIntent',
      toolCallId: call.id,
      toolName: call.name,
      arguments: permitted.written,
      idempotent: permitted.tool.idempotent === true,
    })
    if (run.signal.aborted) throw run.signal.reason
    announce(run, call, permitted.written)
    // A listener may have aborted the run just now.
    const result = run.signal.aborted ? errorResult('Cancelled') : await runTool(run, permitted)
    return await conclude(run, call, result)
  } catch (error) {
    if (run.signal.aborted || error instanceof JournalError) return answerStopped(run, call, error)
    // A schema or a hash that breaks costs this call, not the run. It was not announced yet: what follows an announcement never throws.
    return skipTool(run, call, errorText(error))
  }
}

/** Answers a call that is not run, with the pair of events every call has. */
export async function skipTool(run: LoopRun, call: ToolCallContent, message: string): Promise<ToolResultEntry> {
  try {
    return await answerWithoutRunning(run, call, errorResult(message))
  } catch (error) {
    return answerStopped(run, call, error)
  }
}

/** The call ready to run, or the result that says why it cannot. */
async function prepare(run: LoopRun, call: ToolCallContent): Promise<PreparedCall | ToolResult> {
  const tool = findTool(run.context.tools, call.name)
  if (tool === undefined) return errorResult(`Tool ${call.name} not found`)
  if (call.invalidArguments !== undefined) {
    return errorResult(`Invalid arguments: not a JSON object: ${excerpt(call.invalidArguments)}`)
  }
  return validate(run, tool, call.id, call.arguments)
}

async function validate(run: LoopRun, tool: AgentTool, id: string, written: JsonObject): Promise<PreparedCall | ToolResult> {
  // A copy: neither the tool nor whoever is shown the arguments can change what the other has, or the history.
  const checked = checkArguments(tool, structuredClone(written), run.config.schemaValidator)
  const result = 'then' in checked ? await raceAbort(checked, run.signal) : checked
  if (result.issues !== undefined) {
    const { formatIssues } = await raceAbort(import('../validation/format-issues.ts'), run.signal)
    return errorResult(`Invalid arguments: ${formatIssues(result.issues)}`)
  }
  return { id, name: tool.name, tool, written, args: result.value }
}

/**
 * The call as it may run: approved, let through by the hook, with the arguments the hook gave it. A result when it may not, `undefined` when
 * it waits for a person.
 */
async function permit(run: LoopRun, call: PreparedCall): Promise<PreparedCall | ToolResult | undefined> {
  const outcome = await approval(run, call)
  if (outcome.type !== 'approved') return refusal(outcome)
  if (run.lifecycle === undefined) return call
  const { permitByHook } = await raceAbort(import('./permit-by-hook.ts'), run.signal)
  const decision = await permitByHook(run, run.lifecycle, call)
  if (decision.type === 'run') return call
  if (decision.type !== 'replace') return refusal(decision)
  const replaced = await validate(run, call.tool, call.id, decision.args)
  if ('content' in replaced) return replaced
  // Whoever answered saw the other arguments.
  const wasAsked = decision.wasAsked || outcome !== notAsked
  const again = wasAsked ? await askApproval(run, replaced) : await approval(run, replaced)
  return again.type === 'approved' ? replaced : refusal(again)
}

function refusal(outcome: { type: 'denied'; message: string } | { type: 'paused' }): ToolResult | undefined {
  return outcome.type === 'denied' ? errorResult(outcome.message) : undefined
}

/** The call needs no approval. */
const notAsked: ApprovalOutcome = { type: 'approved' }

async function approval(run: LoopRun, call: PreparedCall): Promise<ApprovalOutcome> {
  return (await needsApproval(run, call)) ? askApproval(run, call) : notAsked
}

/** Asks a person. Loaded when a tool first needs it: most programs never ask. */
async function askApproval(run: LoopRun, call: PreparedCall): Promise<ApprovalOutcome> {
  const { approveCall } = await raceAbort(import('./approve-call.ts'), run.signal)
  return approveCall(run, call)
}

/** A rule that throws counts as "yes". Rejects with the signal's reason when the run is stopped. */
async function needsApproval(run: LoopRun, call: PreparedCall): Promise<boolean> {
  const { needsApproval: rule } = call.tool
  if (typeof rule !== 'function') return rule === true
  try {
    return await raceAbort(rule(call.args), run.signal)
  } catch (error) {
    if (run.signal.aborted) throw error
    return true
  }
}

function findTool(tools: readonly AgentTool[], name: string): AgentTool | undefined {
  return tools.find((tool) => tool.name === name)
}

function announce(run: LoopRun, call: ToolCallContent, args: JsonObject = call.arguments): void {
  run.events.emit({ type: 'toolExecutionStart', toolCallId: call.id, toolName: call.name, args })
}

async function answerWithoutRunning(run: LoopRun, call: ToolCallContent, result: ToolResult): Promise<ToolResultEntry> {
  if (run.signal.aborted) throw run.signal.reason
  announce(run, call)
  return conclude(run, call, result)
}

/** The run was stopped, or has failed with `error`: the call is answered, not run. */
function answerStopped(run: LoopRun, call: ToolCallContent, error: unknown): Promise<ToolResultEntry> {
  // Also after an abort: a journal that has refused is told nothing more.
  if (error instanceof JournalError || !run.signal.aborted) run.fail(error)
  announce(run, call)
  return conclude(run, call, errorResult('Cancelled'))
}

/** Ends a call whose start was announced, then makes the result durable. Never rejects. */
async function conclude(run: LoopRun, call: ToolCallContent, result: ToolResult): Promise<ToolResultEntry> {
  const { loopId } = run.events
  const entry = toolResultEntry(call, result, { loopId, turnIndex: run.turnIndex })
  run.nodeIds?.assign(entry)
  const { toolCallId, toolName, isError, childLoopId } = entry
  run.events.emit({ type: 'toolExecutionEnd', toolCallId, toolName, result, isError, ...(childLoopId !== undefined && { childLoopId }) })
  try {
    await run.record({ type: 'toolResult', message: entry })
  } catch (error) {
    run.fail(error)
  }
  await run.lifecycle?.afterTool(call, result)
  return entry
}

function excerpt(raw: string): string {
  return raw.length <= 200 ? raw : `${raw.slice(0, 200)}… (${raw.length} characters)`
}
