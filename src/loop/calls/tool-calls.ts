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
const truncatedSkip = 'The call was cut off by the output limit and was not run. Send it again, with shorter arguments.'

/** A call before it is run. */
export interface PlannedCall {
  call: AnswerableCall
  /** Why it is not run. */
  skip?: string
  /** Of a call that begins at once. */
  preparation?: Preparation | Promise<Preparation>
  /** Its intent, while that becomes durable. */
  intent?: Promise<void> | undefined
  /** The hash of the arguments with which it may run: it was permitted, and then waited for a page. */
  permitted?: string | undefined
}

/** Calls that wait for nobody. */
export const noCalls: () => CallOutcome = () => ({ results: [], waiting: [], clientCalls: [], heldBack: [], changes: [] })

/** Whether a call waits for somebody, so that the run cannot go on. */
export function isPaused({ waiting, clientCalls }: CallOutcome): boolean {
  return waiting.length > 0 || clientCalls.length > 0
}

/** What the calls of a turn came to. */
export interface CallOutcome {
  /** In the order of the calls. */
  results: ToolResultEntry[]
  /** Calls that wait for a person; they have no result. */
  waiting: PendingApproval[]
  /** Calls that wait for a page; they have no result either. */
  clientCalls: PendingClientCall[]
  /** Ids of the calls that come after one that waits; they have no result either. */
  heldBack: string[]
  /** What the tools asked to be taken out of what is sent, or put back. */
  changes: ContextChange[]
}

/** Plans the calls of a response that may be run: none when the model was stopped or failed. As {@link planCalls}. */
export function planAndRecordIntents(loop: LoopState, { stopReason, content }: AssistantMessage): PlannedCall[] {
  if (stopReason !== 'toolUse' && stopReason !== 'stop' && stopReason !== 'length') return []
  const calls = callsToAnswer(content)
  return calls.length === 0 ? [] : planCalls(loop, calls, stopReason === 'length' && content.at(-1)?.type === 'toolCall')
}

/**
 * Plans the calls of one assistant message. Those that begin at once are prepared, and where nobody has to be asked their intents are recorded:
 * in the same step as the message, so that a journal can write them together. With `isCut`, the last call is not run: the output limit may
 * have cut its arguments.
 */
export function planCalls(loop: LoopState, calls: readonly AnswerableCall[], isCut: boolean): PlannedCall[] {
  const size = stepSize(loop, calls.length)
  return calls.map((call, at) => {
    if (isCut && at === calls.length - 1) return { call, skip: truncatedSkip }
    return at < size && !loop.stop.aborted ? begin(loop, call) : { call }
  })
}

/** Prepares a call of the first step, and records its intent where nobody has to be asked. */
function begin(loop: LoopState, call: AnswerableCall): PlannedCall {
  const preparation = prepareCall(loop, call)
  if (preparation instanceof Promise) {
    // It is awaited later, or never: when the run is stopped before.
    preparation.catch(() => undefined)
    return { call, preparation }
  }
  const isOurs = preparation.kind === 'ready' && preparation.call.tool.client === undefined && isUnasked(loop, preparation.call)
  const intent = isOurs ? recordIntent(loop, preparation.call) : undefined
  intent?.catch(() => undefined)
  return { call, preparation, intent }
}

/**
 * Runs the calls of one assistant message and puts the results into the history, in the order of the calls.
 *
 * **Contract**
 * - `parallel` starts all at once; `sequential` one after the other; `batched` in groups. Between steps, a waiting steering message skips
 *   what has not begun; a call that waits for a person holds it back.
 * - What the tools want taken out of the context is in `changes`; `pruneAndRevert` does it.
 * - Never rejects: what cannot be done fails the run.
 */
export async function runCalls(loop: LoopState, planned: readonly PlannedCall[]): Promise<CallOutcome> {
  const outcome = noCalls()
  const size = stepSize(loop, planned.length)
  try {
    for (let at = 0; at < planned.length; at += size) {
      // Their order was asked for, and what comes later may rest on what comes first.
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

/** Notes which calls of a step are held back; gives back those that are answered all the same, because they are never run. */
function holdBack(step: readonly PlannedCall[], { heldBack }: CallOutcome): PlannedCall[] {
  for (const { call, skip } of step) if (skip === undefined) heldBack.push(call.id)
  return step.filter(({ skip }) => skip !== undefined)
}

/** How many calls run at the same time. */
function stepSize({ config }: LoopState, calls: number): number {
  const { toolExecution = plainDefaults.toolExecution } = config
  const strategy = typeof toolExecution === 'string' ? { type: toolExecution } : toolExecution
  if (strategy.type === 'sequential') return 1
  if (strategy.type === 'batched') return strategy.size
  return Math.max(1, calls)
}

/** What tells calls apart. */
type CallName = Pick<AnswerableCall, 'id' | 'name'>

/**
 * Takes one call from request to result: find, validate, ask, journal the intent, run, journal the result.
 *
 * **Contract**
 * - Never rejects. Resolves with the message that answers the call, or `undefined` when the call waits for a person or a page.
 * - Emits exactly one `toolExecutionStart` and one `toolExecutionEnd` for every call that is answered.
 * - After the run was stopped or has failed, the tool is not run; the answer is `Cancelled`.
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
    const isFree = isUnasked(loop, prepared.call) || permitted === argumentsHash(prepared.call.written)
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
    // A listener may have stopped the run just now.
    if (loop.stop.aborted) return conclude(loop, call, errorResult('Cancelled'))
    loop.refusals.clear()
    return conclude(loop, call, await invokeTool(loop, permission.call, outcome.changes))
  } catch (error) {
    if (loop.stop.aborted || error instanceof JournalError || LoadError.isInstance(error)) return answerStopped(loop, call, error)
    // A schema or a hash that breaks costs this call, not the run. It was not announced yet: what follows an announcement never throws.
    return refuseCall(loop, call, errorResult(errorText(error)))
  }
}

/** As {@link executeCall}, for a call that a page runs. */
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
    // A listener may have stopped the run just now.
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

function recordIntent(loop: LoopState, { id, name, written, tool }: PreparedCall): Promise<void> | undefined {
  return loop.record({ type: 'toolIntent', toolCallId: id, toolName: name, arguments: written, idempotent: tool.idempotent === true })
}

/** Answers a call that is not run because of what it is. One that comes again and again ends the run. */
function refuseCall(loop: LoopState, call: AnswerableCall, result: ToolResult): Promise<ToolResultEntry> {
  loop.refusals.add(call, result)
  return answerUnrun(loop, call, result)
}

/** Answers a call that is not run, with the pair of events every call has. */
async function answerUnrun(loop: LoopState, call: AnswerableCall, result: ToolResult): Promise<ToolResultEntry> {
  try {
    loop.stop.throwIfAborted()
    announce(loop, call, call.arguments)
    return conclude(loop, call, result)
  } catch (error) {
    return answerStopped(loop, call, error)
  }
}

/** The run was stopped, or has failed with `error`: the call is answered, not run. */
function answerStopped(loop: LoopState, call: AnswerableCall, error: unknown): ToolResultEntry | Promise<ToolResultEntry> {
  // Also after an abort: a journal that has refused is told nothing more.
  if (error instanceof JournalError || !loop.stop.aborted) loop.fail(error)
  announce(loop, call, call.arguments)
  return conclude(loop, call, errorResult('Cancelled'))
}

function announce(loop: LoopState, call: CallName, args: JsonObject): void {
  loop.events.emit({ type: 'toolExecutionStart', toolCallId: call.id, toolName: call.name, args })
}

/** Ends a call whose start was announced, then makes the result durable. Never rejects. */
async function conclude(loop: LoopState, call: CallName, given: ToolResult): Promise<ToolResultEntry> {
  const { loopId } = loop.events
  const { id: toolCallId, name: toolName } = call
  const seen = (await loop.hooks.endTool(call, given)) ?? given
  const result = (await offload(loop, call, seen)) ?? seen
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
