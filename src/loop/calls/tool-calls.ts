import { contentAfterEdit } from '../../base/edited-result.ts'
import { argumentsHash } from '../../base/hash.ts'
import type { ContextChange } from '../../contract/context/context-change.ts'
import { ConfigError, errorText, JournalError, LoadError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type AnswerableCall, type AssistantMessage, callsToAnswer } from '../../contract/message/message.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import { plainDefaults } from '../../contract/run/settings.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ClientRun } from '../../types/tool/tool.ts'
import { askClient, fitting } from '../ask/client-call.ts'
import { isUnasked, permit } from '../ask/permission.ts'
import type { LoopState } from '../loop-state.ts'
import { invokeTool } from './invoke-tool.ts'
import { offload } from './offload.ts'
import { type Preparation, type PreparedCall, prepareCall } from './prepare-call.ts'
import { errorResult, type ToolResultEntry, toolResultEntry } from './tool-result.ts'

const steeringSkip = 'Skipped due to queued user message.'
const truncatedSkip = 'The call was truncated by the output limit and did not run. Send it again with shorter arguments.'

/** A planned call, before it runs. */
export interface PlannedCall {
  call: AnswerableCall
  /** Reason not to run the call, if any. */
  skip?: string
  /** Preparation of a call that starts immediately. */
  preparation?: Preparation | Promise<Preparation>
  /** Pending write of the call's intent record. */
  intent?: Promise<void> | undefined
  /** The approved call, if it waits for a client. */
  permitted?: PendingClientCall | undefined
}

/** Creates the outcome of a turn without calls. */
export const noCalls: () => CallOutcome = () => ({ results: [], waiting: [], clientCalls: [], heldBack: [], changes: [] })

/** Returns whether a call is pending, which prevents the run from continuing. */
export function isPaused({ waiting, clientCalls }: CallOutcome): boolean {
  return waiting.length > 0 || clientCalls.length > 0
}

/** Outcome of a turn's tool calls. */
export interface CallOutcome {
  /** Tool results, in call order. */
  results: ToolResultEntry[]
  /** Calls that wait for an approval and have no result. */
  waiting: PendingApproval[]
  /** Client tool calls that wait for a client and have no result. */
  clientCalls: PendingClientCall[]
  /** Ids of calls that did not start because an earlier call is pending. */
  heldBack: string[]
  /** Context changes requested by the tools. */
  changes: ContextChange[]
}

/** Plans a response's calls. Returns none if the model call failed or was stopped. See {@link planCalls}. */
export function planAndRecordIntents(loop: LoopState, { stopReason, content }: AssistantMessage): PlannedCall[] {
  if (stopReason !== 'toolUse' && stopReason !== 'stop' && stopReason !== 'length') return []
  const calls = callsToAnswer(content)
  return calls.length === 0 ? [] : planCalls(loop, calls, stopReason === 'length' && content.at(-1)?.type === 'toolCall')
}

/**
 * Plans the calls of one assistant message. Prepares the first step's calls, and records the intents of calls without approval together
 * with the message, so that a journal can write both at once. With `isCut`, skips the last call, because the output limit may have
 * truncated it.
 */
export function planCalls(loop: LoopState, calls: readonly AnswerableCall[], isCut: boolean): PlannedCall[] {
  const size = stepSize(loop, calls.length)
  return calls.map((call, at) => {
    if (isCut && at === calls.length - 1) return { call, skip: truncatedSkip }
    return at < size && !loop.stop.aborted ? begin(loop, call) : { call }
  })
}

/** Prepares a call of the first step, and records its intent if no approval or hook applies. */
function begin(loop: LoopState, call: AnswerableCall): PlannedCall {
  const preparation = prepareCall(loop, call)
  if (preparation instanceof Promise) {
    // Prevent an unhandled rejection if the run is stopped before this is awaited.
    preparation.catch(() => undefined)
    return { call, preparation }
  }
  const isOurs = preparation.kind === 'ready' && preparation.call.tool.client === undefined && isUnasked(loop, preparation.call)
  const intent = isOurs ? recordIntent(loop, preparation.call) : undefined
  intent?.catch(() => undefined)
  return { call, preparation, intent }
}

/**
 * Runs the calls of one assistant message and appends the results to the history, in call order.
 *
 * **Contract**
 * - `parallel` starts all calls at once, `sequential` one after another, `batched` in groups. Between steps, a queued steering message
 *   skips calls that have not started, and a pending call delays them until a later run.
 * - `changes` contains requested context changes, for `pruneAndRevert` to apply.
 * - Never rejects: errors fail the run.
 */
export async function runCalls(loop: LoopState, planned: readonly PlannedCall[]): Promise<CallOutcome> {
  const outcome = noCalls()
  const size = stepSize(loop, planned.length)
  try {
    for (let at = 0; at < planned.length; at += size) {
      // Later calls may depend on earlier ones.
      const isHeld = isPaused(outcome) && !loop.stop.aborted
      const isSkipped = !isHeld && at > 0 && loop.inputs.isSteered
      const step = isHeld ? holdBack(planned.slice(at, at + size), outcome) : planned.slice(at, at + size)
      const answered = await Promise.all(
        step.map((planned) => {
          const reason = isSkipped ? steeringSkip : planned.skip
          if (reason === undefined) return executeCall(loop, planned, outcome)
          return isSkipped ? answerUnrun(loop, planned.call, errorResult(reason)) : refuseCall(loop, planned.call, errorResult(reason))
        }),
      )
      for (const entry of answered) {
        if (entry === undefined) continue
        outcome.results.push(entry)
        loop.append(entry)
        loop.events.message(entry)
      }
    }
  } catch (error) {
    loop.fail(error)
  }
  return outcome
}

/** Records the delayed calls of a step. Returns the calls that never run and therefore get a result now. */
function holdBack(step: readonly PlannedCall[], { heldBack }: CallOutcome): PlannedCall[] {
  for (const { call, skip } of step) if (skip === undefined) heldBack.push(call.id)
  return step.filter(({ skip }) => skip !== undefined)
}

/** Returns how many calls run concurrently. */
function stepSize({ config }: LoopState, calls: number): number {
  const { toolExecution = plainDefaults.toolExecution } = config
  const strategy = typeof toolExecution === 'string' ? { type: toolExecution } : toolExecution
  if (strategy.type === 'sequential') return 1
  if (strategy.type === 'batched') return strategy.size
  return Math.max(1, calls)
}

/** Identifies a call. */
type CallName = Pick<PreparedCall, 'id' | 'name' | 'edited'>

/**
 * Executes one call: validates and approves it, records the intent, runs the tool and records the result.
 *
 * **Contract**
 * - Never rejects. Resolves with the tool result, or `undefined` if the call is pending.
 * - Emits exactly one `toolExecutionStart` and one `toolExecutionEnd` for every call with a result.
 * - If the run was stopped or has failed, does not run the tool. The result is `Cancelled`.
 */
async function executeCall(
  loop: LoopState,
  { call, preparation, intent, permitted }: PlannedCall,
  outcome: CallOutcome,
): Promise<ToolResultEntry | undefined> {
  try {
    loop.stop.throwIfAborted()
    const prepared = await (preparation ?? prepareCall(loop, call))
    if (prepared.kind === 'refused') return refuseCall(loop, call, prepared.result)
    if (permitted?.edited !== undefined) prepared.call.edited = permitted.edited
    const isFree = isUnasked(loop, prepared.call) || permitted?.argumentsHash === argumentsHash(prepared.call.written)
    const permission = isFree ? { kind: 'run' as const, call: prepared.call } : await permit(loop, prepared.call)
    if (permission.kind === 'paused') {
      outcome.waiting.push(permission.pending)
      return undefined
    }
    if (permission.kind === 'refused') return refuseCall(loop, call, permission.result)
    const { client } = permission.call.tool
    if (client !== undefined) return await answerFromPage(loop, permission.call, client, outcome)
    await (intent ?? recordIntent(loop, permission.call))
    loop.stop.throwIfAborted()
    announce(loop, call, permission.call.written)
    // A listener may have just stopped the run.
    if (loop.stop.aborted) return conclude(loop, call, errorResult('Cancelled'))
    loop.refusals.clear()
    return conclude(loop, permission.call, await invokeTool(loop, permission.call, outcome.changes))
  } catch (error) {
    if (loop.stop.aborted || error instanceof JournalError || LoadError.isInstance(error)) return answerStopped(loop, call, error)
    // A failing schema or hash fails this call, not the run. The call's start event was not emitted yet. After it, nothing throws.
    return refuseCall(loop, call, errorResult(errorText(error)))
  }
}

/** {@link executeCall} for a client tool call. */
async function answerFromPage(
  loop: LoopState,
  call: PreparedCall,
  client: ClientRun,
  { clientCalls }: CallOutcome,
): Promise<ToolResultEntry | undefined> {
  const answered = await askClient(loop, call, client)
  if (answered.kind === 'paused') {
    clientCalls.push(answered.pending)
    return undefined
  }
  let isLost = true
  try {
    const result = await fitting(loop, call.name, answered.result, client.output)
    loop.stop.throwIfAborted()
    announce(loop, call, call.written)
    // A listener may have just stopped the run.
    if (loop.stop.aborted) return await conclude(loop, call, errorResult('Cancelled'))
    loop.refusals.clear()
    const entry = await conclude(loop, call, result)
    isLost = loop.failure !== undefined
    return entry
  } finally {
    answered.kept?.(
      isLost ? new ConfigError('unknownCall', `The run ended before the result of call "${call.id}" was recorded.`) : undefined,
    )
  }
}

function recordIntent(loop: LoopState, { id, name, written, tool, edited }: PreparedCall): Promise<void> | undefined {
  const call = { toolCallId: id, toolName: name, arguments: written, idempotent: tool.idempotent === true }
  return loop.record({ type: 'toolIntent', ...call, ...(edited !== undefined && { edited }) })
}

/** Returns an error for an invalid call. Repeated invalid calls end the run. */
function refuseCall(loop: LoopState, call: AnswerableCall, result: ToolResult): Promise<ToolResultEntry> {
  loop.refusals.add(call, result)
  return answerUnrun(loop, call, result)
}

/** Returns a result without running the call. Emits the start and end events. */
async function answerUnrun(loop: LoopState, call: AnswerableCall, result: ToolResult): Promise<ToolResultEntry> {
  try {
    loop.stop.throwIfAborted()
    announce(loop, call, call.arguments)
    return conclude(loop, call, result)
  } catch (error) {
    return answerStopped(loop, call, error)
  }
}

/** Returns the result of a call that is not run because the run was stopped or failed with `error`. */
function answerStopped(loop: LoopState, call: AnswerableCall, error: unknown): ToolResultEntry | Promise<ToolResultEntry> {
  // Do this even after an abort, because a journal that rejected a record gets no more records.
  if (error instanceof JournalError || !loop.stop.aborted) loop.fail(error)
  announce(loop, call, call.arguments)
  return conclude(loop, call, errorResult('Cancelled'))
}

function announce(loop: LoopState, call: CallName, args: JsonObject): void {
  loop.events.emit({ type: 'toolExecutionStart', toolCallId: call.id, toolName: call.name, args })
}

/** Ends a call whose start event was emitted, and records its result. Never rejects. */
async function conclude(loop: LoopState, call: CallName, given: ToolResult): Promise<ToolResultEntry> {
  const { loopId } = loop.events
  const { id: toolCallId, name: toolName } = call
  const seen = (await loop.hooks.endTool(call, given)) ?? given
  const offloaded = (await offload(loop, call, seen)) ?? seen
  const result = call.edited === undefined ? offloaded : { ...offloaded, content: contentAfterEdit(offloaded.content, call.edited) }
  const { childLoopId, isError = false } = result
  loop.events.emit({ type: 'toolExecutionEnd', toolCallId, toolName, result, isError, ...(childLoopId !== undefined && { childLoopId }) })
  const kept = (await loop.hooks.afterTool(call, result)) ?? result
  const entry = toolResultEntry(call, kept, { loopId, turnIndex: loop.turnIndex })
  const backgroundId = loop.background?.begunBy(call.id)
  if (backgroundId !== undefined) entry.backgroundId = backgroundId
  loop.contextWindow.view?.number(entry)
  await loop.record({ type: 'toolResult', message: entry })?.catch((error) => loop.fail(error))
  return entry
}
