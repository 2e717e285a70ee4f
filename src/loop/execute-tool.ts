import type { ToolCallContent } from '../types/content.ts'
import { errorText } from '../types/errors.ts'
import type { AgentTool, ToolResult } from '../types/tool.ts'
import { checkArguments } from '../validation/tool-parameters.ts'
import { raceAbort } from './abort.ts'
import type { ApprovalOutcome } from './approve-call.ts'
import { JournalError, type LoopRun } from './loop-run.ts'
import { type PreparedCall, runTool } from './run-tool.ts'
import { errorResult, type ToolResultEntry, toolResultEntry } from './tool-result.ts'

/**
 * Takes one call from request to result: find, validate, approve, journal the intent, run, journal the result.
 *
 * **Contract**
 * - Never rejects. Resolves with the message that answers the call, or `undefined` when the call waits for an approval.
 * - Emits exactly one `toolExecutionStart` and one `toolExecutionEnd` for every call that is answered.
 * - After the run was stopped or has failed, the tool is not run; the answer is `Cancelled`.
 */
export async function executeTool(run: LoopRun, call: ToolCallContent): Promise<ToolResultEntry | undefined> {
  try {
    const prepared = await prepare(run, call)
    if ('content' in prepared) return await answerWithoutRunning(run, call, prepared)
    const outcome = await approval(run, prepared)
    if (outcome.type === 'paused') return undefined
    if (outcome.type === 'denied') return await answerWithoutRunning(run, call, errorResult(outcome.message))
    await run.record({
      type: 'toolIntent',
      toolCallId: call.id,
      toolName: call.name,
      arguments: call.arguments,
      idempotent: prepared.tool.idempotent === true,
    })
    if (run.signal.aborted) throw run.signal.reason
    announce(run, call)
    // A listener may have aborted the run just now.
    const result = run.signal.aborted ? errorResult('Cancelled') : await runTool(run, prepared)
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
  // A copy: neither the tool nor whoever is shown the arguments can change what the other has, or the history.
  const checked = checkArguments(tool, structuredClone(call.arguments), run.config.schemaValidator)
  const result = 'then' in checked ? await raceAbort(checked, run.signal) : checked
  if (result.issues !== undefined) {
    const { formatIssues } = await raceAbort(import('../validation/format-issues.ts'), run.signal)
    return errorResult(`Invalid arguments: ${formatIssues(result.issues)}`)
  }
  return { id: call.id, name: call.name, tool, written: call.arguments, args: result.value }
}

async function approval(run: LoopRun, call: PreparedCall): Promise<ApprovalOutcome> {
  if (!(await needsApproval(run, call))) return { type: 'approved' }
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

function announce(run: LoopRun, call: ToolCallContent): void {
  run.events.emit({ type: 'toolExecutionStart', toolCallId: call.id, toolName: call.name, args: call.arguments })
}

async function answerWithoutRunning(run: LoopRun, call: ToolCallContent, result: ToolResult): Promise<ToolResultEntry> {
  if (run.signal.aborted) throw run.signal.reason
  announce(run, call)
  return conclude(run, call, result)
}

/** The run was stopped, or has failed with `error`: the call is answered, not run. */
function answerStopped(run: LoopRun, call: ToolCallContent, error: unknown): Promise<ToolResultEntry> {
  if (!run.signal.aborted) run.fail(error)
  announce(run, call)
  return conclude(run, call, errorResult('Cancelled'))
}

/** Ends a call whose start was announced, then makes the result durable. Never rejects. */
async function conclude(run: LoopRun, call: ToolCallContent, result: ToolResult): Promise<ToolResultEntry> {
  const { loopId } = run.events
  const entry = toolResultEntry(call, result, { loopId, turnIndex: run.turnIndex })
  const { toolCallId, toolName, isError, childLoopId } = entry
  run.events.emit({ type: 'toolExecutionEnd', toolCallId, toolName, result, isError, ...(childLoopId !== undefined && { childLoopId }) })
  try {
    await run.record({ type: 'toolResult', message: entry })
  } catch (error) {
    run.fail(error)
  }
  return entry
}

function excerpt(raw: string): string {
  return raw.length <= 200 ? raw : `${raw.slice(0, 200)}… (${raw.length} characters)`
}
