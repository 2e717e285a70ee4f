import { ConfigError } from '../contract/errors.ts'
import { newId } from '../contract/message/identity.ts'
import {
  type AgentMessage,
  answerOf,
  callsToAnswer,
  isLlmMessage,
  type LlmMessage,
  lastSaidAt,
  type PromptInput,
} from '../contract/message/message.ts'
import type { ContinuationKind } from '../contract/run/run-facts.ts'
import { isPromptOver } from '../contract/session/session.ts'
import type { RunEnding, RunResult } from '../types/run/run.ts'
import { closeBackground, hasOpenBackground, loadBackground, usesBackground } from './background.ts'
import { loadOffload } from './calls/offload.ts'
import { checkLoop } from './check-config.ts'
import { compactAsAsked, loadView, needsView } from './compaction.ts'
import { toMessages } from './intake.ts'
import { runTurns, type TurnsStart } from './loop.ts'
import type { AgentContext, LoopConfig, LoopOptions } from './loop-config.ts'
import { configSnapshot, nextLoopId } from './loop-id.ts'
import { LoopState } from './loop-state.ts'
import { joinPlugins } from './plugins/plugin-port.ts'
import { findPausedTurn, type PausedTurn } from './turn/resume-turn.ts'

/**
 * Starts a loop with new input: asks the model, runs the tools it wants, feeds the results back, until there is nothing left to do.
 *
 * **Contract**
 * - Appends to `context.messages`; writes missing `agentId`, `sessionId`, `loopId` back to `context`.
 * - Emits `agentStart` first and exactly one `agentEnd` last, whatever happens. Model failure, abort and limits resolve.
 * - Rejects only with `ConfigError` (`emptyPrompt`, `invalidMessage`, `invalidOption`), before the first event and with `context` unchanged.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export async function agentLoop(prompt: PromptInput, context: AgentContext, config: LoopConfig, options: LoopOptions): Promise<RunResult> {
  checkLoop(context, config, options)
  const start: LoopStart = { type: 'prompt', messages: toMessages(prompt) }
  return startLoop({ start, origin: { kind: { kind: 'initial' }, ...parentOf(context.parentLoopId) }, context, config, options })
}

/**
 * Continues a conversation that ends with a user message or a tool result, or with calls that wait for an approval. Answers that failed or
 * were aborted do not count: continuing after one asks the model again, as if it had said nothing.
 *
 * **Contract**
 * - As {@link agentLoop}, without new input. `parentLoopId` defaults to the loop before.
 * - Rejects with `ConfigError`: `missingIds` without `agentId` and `sessionId` (an invented identity would break the trail),
 *   `emptyHistory`, `trailingAssistant`, `invalidOption`.
 *
 * Source: docs/concepts/sessions.md
 */
export async function continueLoop(context: AgentContext, config: LoopConfig, options: LoopOptions): Promise<RunResult> {
  checkLoop(context, config, options)
  const start = continuationOf(context)
  const { continuationKind: kind = { kind: 'default' }, parentLoopId, lastLoopId } = context
  return startLoop({ start, origin: { kind, ...parentOf(parentLoopId ?? lastLoopId) }, context, config, options })
}

/** What a loop does: answers a prompt, goes on from the history, or compacts what is sent of it. */
export type LoopStart =
  | { type: 'prompt'; messages: AgentMessage[]; paused?: PausedTurn }
  /** `isAnswered`: all that is left is to tell the model of what went on beside its last run. */
  | { type: 'continuation'; paused?: PausedTurn; isAnswered?: true }
  | { type: 'compaction'; focusMessage?: string }

/** How to go on from the history of `context`. Throws the `ConfigError` that says why that cannot be. */
export function continuationOf(context: AgentContext): Extract<LoopStart, { type: 'continuation' }> {
  if (context.agentId === undefined || context.sessionId === undefined) {
    throw new ConfigError('missingIds', 'A continuation needs context.agentId and context.sessionId; run agentLoop first or restore them.')
  }
  const last = context.messages.findLast((message) => isLlmMessage(message) && !isFailedAnswer(message))
  if (last === undefined) throw new ConfigError('emptyHistory', 'There is nothing to continue: the history is empty. Use a prompt.')
  const paused = findPausedTurn(context.messages)
  if (paused !== undefined) return { type: 'continuation', paused }
  if (last.role !== 'assistant') return { type: 'continuation' }
  if (hasOpenBackground(context)) return { type: 'continuation', isAnswered: true }
  throw new ConfigError('trailingAssistant', 'The history ends with an answer of the model; there is nothing to continue. Use a prompt.')
}

/** As {@link continuationOf}, `undefined` where there is nothing to continue. */
export function tryContinuation(context: AgentContext): Extract<LoopStart, { type: 'continuation' }> | undefined {
  try {
    return continuationOf(context)
  } catch {
    return undefined
  }
}

function isFailedAnswer(message: LlmMessage): boolean {
  return message.role === 'assistant' && (message.stopReason === 'error' || message.stopReason === 'aborted')
}

/** Where a loop comes from. */
export interface LoopOrigin {
  kind: ContinuationKind
  parentLoopId?: string
  /** Default: that of the context, else the next one of its session and configuration. */
  loopId?: string
}

function parentOf(parentLoopId: string | undefined): Pick<LoopOrigin, 'parentLoopId'> {
  return parentLoopId === undefined ? {} : { parentLoopId }
}

/** One loop, for whoever has checked its configuration and turned its input into messages. */
export interface LoopRequest {
  start: LoopStart
  origin: LoopOrigin
  context: AgentContext
  config: LoopConfig
  options: LoopOptions
}

/** Runs one loop: identity, `agentStart`, hooks, what `start` says, and exactly one `agentEnd`, whatever happens. Never rejects. */
export async function startLoop(request: LoopRequest): Promise<RunResult> {
  const { start, origin, context, config, options } = request
  const ids = { ...ensureIds(request), runId: options.runId ?? newId() }
  const loop = new LoopState(ids, context, config, options)
  const turns = turnsStart(loop, request)
  const stopTelling = tellShared(loop)
  const end = (ending: RunEnding): RunResult => {
    loop.stop.release()
    stopTelling()
    context.lastLoopId = ids.loopId
    if (start.type !== 'compaction' && isPromptOver(ending.status, origin.kind)) delete context.asked
    const returned = loop.inputs.leave()
    loop.plugins?.ending(ending)
    const { usage, budget, added: messages } = loop
    const { costUsd } = budget
    const ended = { ...ending, usage, totalUsage: budget.used().usage, ...(costUsd !== undefined && { costUsd }), messages }
    loop.events.emit({ type: 'agentEnd', ...ended, ...(returned.length > 0 && { returned }) })
    const { runId, sessionId, loopId } = ids
    return { runId, loopId, sessionId, ...answerOf(ending.status, loop.added), returned, ...ended }
  }
  const work = () => run(loop, request, turns, end)
  const result = await (loop.watches === undefined ? work() : loop.watches.around({ type: 'loop' }, work))
  await loop.inputs.written
  // What stands in other records, or beside each of them, is left out.
  const { runId, loopId, sessionId, text, stopReason, isEmpty, messages, returned, totalUsage, limit, ...ended } = result
  await loop.record({ type: 'loopEnd', ...ended })?.catch((error) => loop.log.warnFailed('loopEndNotRecorded', error))
  await loop.hooks.afterLoop(result)
  await loop.plugins?.close()
  return result
}

/** Nothing is awaited that is not there: without hooks and journal the first event comes at once. */
async function run(
  loop: LoopState,
  { start, origin, context }: LoopRequest,
  turns: TurnsStart,
  ended: (ending: RunEnding) => RunResult,
): Promise<RunResult> {
  // In the step of the last look at the queues, where nothing goes on beside the run.
  const end = (ending: RunEnding) =>
    loop.background?.isOpen === true ? closeBackground(loop, loop.background, ending).then(ended) : ended(ending)
  try {
    if (needsView(loop)) await loadView(loop)
    const loading = loadOffload(loop)
    if (loading !== undefined) await loading
    if (usesBackground(context) || (start.type === 'continuation' && start.isAnswered === true)) await loadBackground(loop)
    const asked = loop.hooks.beforeLoop()
    const refused = asked && (await asked)
    const announced = announce(loop, origin, refused === undefined)
    if (announced !== undefined) await announced
    // Only now: the history has what the record of the beginning has found.
    endCutOff(loop, context)
    loop.inputs.began()
    if (refused !== undefined) return await end(refused)
    if (start.type === 'compaction') return await end(await compactAsAsked(loop, start.focusMessage))
    loop.plugins = joinPlugins(loop.config.plugins, loop)
    return await runTurns(loop, turns, end)
  } catch (error) {
    // Little below lets an error through; what does must not cost the caller its agentEnd.
    return await end({ status: 'error', error: loop.fail(error) })
  }
}

/** Changes of what the session shares with its pages are events of the loops that are on. */
function tellShared({ options, events }: LoopState): () => void {
  const told = options.sharedState?.subscribe((change) => events.emit({ type: 'sharedStateChanged', ...change }))
  return () => told?.()
}

/** The prompt belongs to the run from here on: whatever ends it, what it did not take in is returned. */
function turnsStart(loop: LoopState, { start, origin }: LoopRequest): TurnsStart {
  const isBranch = origin.kind.kind === 'branch'
  const paused = start.type === 'compaction' || start.paused === undefined ? {} : { paused: start.paused }
  // Services count their calls anew: what was asked of pages for others is over.
  if (paused.paused === undefined) delete loop.context.clientCalls
  if (start.type === 'prompt') {
    const trigger = isBranch ? 'branch' : (loop.config.firstTurnTrigger ?? 'user')
    return { input: loop.inputs.prompt(start.messages), trigger, mustAnswer: false, ...paused }
  }
  if (start.type === 'continuation') loop.turns.hasCalled = hasCalled(loop.context)
  const mustAnswer = start.type !== 'continuation' || start.isAnswered !== true
  return { input: {}, trigger: isBranch ? 'branch' : 'continuation', mustAnswer, ...paused }
}

/** Whether the model has made a call since somebody last said something: what had to be called was called. */
function hasCalled({ messages }: AgentContext): boolean {
  const since = messages.slice(lastSaidAt(messages, messages.length) + 1)
  return since.some((message) => message.role === 'assistant' && callsToAnswer(message.content).length > 0)
}

/** Makes up the ids a context lacks and writes them back; keeps those it has. */
function ensureIds({ context, config, origin }: LoopRequest): { agentId: string; sessionId: string; loopId: string } {
  context.agentId ??= newId()
  context.sessionId ??= newId()
  const { agentId, sessionId, lastLoopId } = context
  const given = origin.loopId ?? context.loopId
  const loopId = given === undefined || given === lastLoopId ? nextLoopId(context, sessionId, config) : given
  context.loopId = loopId
  return { agentId, sessionId, loopId }
}

/** Ends the calls that a process has not finished: their results were made up at the end of the history. */
function endCutOff({ events }: LoopState, { messages }: AgentContext): void {
  const spoken = messages.findLastIndex(({ role }) => role === 'user' || role === 'assistant')
  for (const message of messages.slice(spoken + 1)) {
    if (message.role !== 'toolResult' || message.outcome === undefined) continue
    const { toolCallId, toolName, content, isError, outcome } = message
    events.emit({ type: 'toolExecutionEnd', toolCallId, toolName, result: { content, isError }, isError, outcome })
  }
}

/** A loop that was refused is written down all the same: its id is taken. */
function announce(loop: LoopState, { kind: continuationKind, parentLoopId }: LoopOrigin, isStarted: boolean): Promise<void> | undefined {
  const { metadata, agentName } = loop.options
  const { asked } = continuationKind.kind === 'compaction' ? {} : loop.context
  const snapshot = configSnapshot(loop.config)
  const start = { ...parentOf(parentLoopId), continuationKind, ...(metadata !== undefined && { metadata }) }
  const named = { agentId: loop.agentId, ...(agentName !== undefined && { agentName }) }
  const clientTools = loop.context.tools.filter(({ client }) => client !== undefined).map(({ name }) => name)
  const forPages = clientTools.length > 0 ? { clientTools } : {}
  if (isStarted) loop.events.emit({ type: 'agentStart', ...named, configSnapshot: snapshot, ...start, ...forPages })
  return loop.record({ type: 'loopStart', config: snapshot, ...start, ...(asked !== undefined && { asked }) })
}
