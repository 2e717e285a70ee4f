import { ConfigError } from '../contract/errors.ts'
import { newId } from '../contract/message/identity.ts'
import {
  type AgentMessage,
  answerOf,
  callsToAnswer,
  isLlmMessage,
  type LlmMessage,
  lastPromptIndex,
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
 * Runs a loop with new input: calls the model, runs its tool calls and sends the results back until the model finishes.
 *
 * **Contract**
 * - Appends to `context.messages`, and sets `agentId`, `sessionId` and `loopId` on `context` if missing.
 * - Always emits `agentStart` first and exactly one `agentEnd` last. Resolves even after a model failure, an abort or a limit.
 * - Rejects only with `ConfigError` (`emptyPrompt`, `invalidMessage`, `invalidOption`), before it emits an event or changes `context`.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export async function agentLoop(prompt: PromptInput, context: AgentContext, config: LoopConfig, options: LoopOptions): Promise<RunResult> {
  checkLoop(context, config, options)
  const start: LoopStart = { type: 'prompt', messages: toMessages(prompt) }
  return startLoop({ start, origin: { kind: { kind: 'initial' }, ...parentOf(context.parentLoopId) }, context, config, options })
}

/**
 * Continues a conversation that ends with a user message, a tool result, or pending calls. If the last response failed or was aborted,
 * calls the model again.
 *
 * **Contract**
 * - The contract of {@link agentLoop} applies, without new input. `parentLoopId` defaults to the previous loop.
 * - Rejects with `ConfigError`: `missingIds` without `agentId` and `sessionId` (new ids would break the session), `emptyHistory`,
 *   `trailingAssistant`, `invalidOption`.
 *
 * Source: docs/concepts/sessions.md
 */
export async function continueLoop(context: AgentContext, config: LoopConfig, options: LoopOptions): Promise<RunResult> {
  checkLoop(context, config, options)
  const start = continuationOf(context)
  const { continuationKind: kind = { kind: 'default' }, parentLoopId, lastLoopId } = context
  return startLoop({ start, origin: { kind, ...parentOf(parentLoopId ?? lastLoopId) }, context, config, options })
}

/** A loop's work: respond to a prompt, continue the history, or compact the context. */
export type LoopStart =
  | { type: 'prompt'; messages: AgentMessage[]; paused?: PausedTurn }
  /** `isAnswered` means that the model has responded, and only background-task reports remain. */
  | { type: 'continuation'; paused?: PausedTurn; isAnswered?: true }
  | { type: 'compaction'; focusMessage?: string }

/** Returns how to continue the history of `context`. Throws `ConfigError` if the history cannot be continued. */
export function continuationOf(context: AgentContext): Extract<LoopStart, { type: 'continuation' }> {
  if (context.agentId === undefined || context.sessionId === undefined) {
    throw new ConfigError(
      'missingIds',
      'Cannot continue: context.agentId and context.sessionId are missing. Restore them, or call agentLoop first.',
    )
  }
  const last = context.messages.findLast((message) => isLlmMessage(message) && !isFailedAnswer(message))
  if (last === undefined) throw new ConfigError('emptyHistory', 'Cannot continue: the history is empty. Send a prompt instead.')
  const paused = findPausedTurn(context.messages)
  if (paused !== undefined) return { type: 'continuation', paused }
  if (last.role !== 'assistant') return { type: 'continuation' }
  if (hasOpenBackground(context)) return { type: 'continuation', isAnswered: true }
  throw new ConfigError('trailingAssistant', 'Cannot continue: the history ends with an assistant message. Send a prompt instead.')
}

/** Same as {@link continuationOf}, but returns `undefined` if there is nothing to continue. */
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

/** A loop's ids and kind. */
export interface LoopOrigin {
  kind: ContinuationKind
  parentLoopId?: string
  /** Loop id. Default: the context's `loopId`, or the next id for its session and configuration. */
  loopId?: string
}

function parentOf(parentLoopId: string | undefined): Pick<LoopOrigin, 'parentLoopId'> {
  return parentLoopId === undefined ? {} : { parentLoopId }
}

/** One loop, with validated configuration and input. */
export interface LoopRequest {
  start: LoopStart
  origin: LoopOrigin
  context: AgentContext
  config: LoopConfig
  options: LoopOptions
}

/**
 * Runs one loop: assigns ids, emits `agentStart`, runs hooks and the work of `start`, and always emits exactly one `agentEnd`. Never
 * rejects.
 */
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
    loop.data.close()
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
  // Omit the common fields and fields that other records contain.
  const { runId, loopId, sessionId, text, stopReason, isEmpty, messages, returned, totalUsage, limit, ...ended } = result
  await loop.record({ type: 'loopEnd', ...ended })?.catch((error) => loop.log.warnFailed('loopEndNotRecorded', error))
  await loop.hooks.afterLoop(result)
  await loop.plugins?.close()
  return result
}

/** Runs the loop. Without hooks and a journal, emits the first event synchronously. */
async function run(
  loop: LoopState,
  { start, origin, context }: LoopRequest,
  turns: TurnsStart,
  ended: (ending: RunEnding) => RunResult,
): Promise<RunResult> {
  // Without background tasks, ends synchronously after the last queue check, so that no message can be queued in between.
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
    // Do this only now, because the first record may have added messages to the history.
    endCutOff(loop, context)
    loop.inputs.began()
    if (refused !== undefined) return await end(refused)
    if (start.type === 'compaction') return await end(await compactAsAsked(loop, start.focusMessage))
    loop.plugins = joinPlugins(loop.config.plugins, loop)
    return await runTurns(loop, turns, end)
  } catch (error) {
    // Emit `agentEnd` even after an unexpected error.
    return await end({ status: 'error', error: loop.fail(error) })
  }
}

/** Emits changes to the shared state as events of this loop. Returns a function that stops this. */
function tellShared({ options, events }: LoopState): () => void {
  const unsubscribe = options.sharedState?.subscribe((change) => events.emit({ type: 'sharedStateChanged', ...change }))
  return () => unsubscribe?.()
}

/** Describes how the turns start. The run now owns the prompt, and returns the messages that it does not accept. */
function turnsStart(loop: LoopState, { start, origin }: LoopRequest): TurnsStart {
  const isBranch = origin.kind.kind === 'branch'
  const paused = start.type === 'compaction' || start.paused === undefined ? {} : { paused: start.paused }
  // Discard requests for earlier client tool calls, because providers reuse call ids.
  if (paused.paused === undefined) delete loop.context.clientCalls
  if (start.type === 'prompt') {
    const trigger = isBranch ? 'branch' : (loop.config.firstTurnTrigger ?? 'user')
    return { input: loop.inputs.prompt(start.messages), trigger, mustAnswer: false, ...paused }
  }
  if (start.type === 'continuation') loop.turns.hasCalled = hasCalled(loop.context)
  const mustAnswer = start.type !== 'continuation' || start.isAnswered !== true
  return { input: {}, trigger: isBranch ? 'branch' : 'continuation', mustAnswer, ...paused }
}

/** Returns whether the model has made a call since the last input. Such a call satisfies a forced tool choice. */
function hasCalled({ messages }: AgentContext): boolean {
  const since = messages.slice(lastPromptIndex(messages, messages.length) + 1)
  return since.some((message) => message.role === 'assistant' && callsToAnswer(message.content).length > 0)
}

/** Creates a context's missing ids and stores them in the context. */
function ensureIds({ context, config, origin }: LoopRequest): { agentId: string; sessionId: string; loopId: string } {
  context.agentId ??= newId()
  context.sessionId ??= newId()
  const { agentId, sessionId, lastLoopId } = context
  const given = origin.loopId ?? context.loopId
  const loopId = given === undefined || given === lastLoopId ? nextLoopId(context, sessionId, config) : given
  context.loopId = loopId
  return { agentId, sessionId, loopId }
}

/** Emits end events for calls that an earlier process left unfinished. Their generated results are at the end of the history. */
function endCutOff({ events }: LoopState, { messages }: AgentContext): void {
  const spoken = messages.findLastIndex(({ role }) => role === 'user' || role === 'assistant')
  for (const message of messages.slice(spoken + 1)) {
    if (message.role !== 'toolResult' || message.outcome === undefined) continue
    const { toolCallId, toolName, content, isError, outcome } = message
    events.emit({ type: 'toolExecutionEnd', toolCallId, toolName, result: { content, isError }, isError, outcome })
  }
}

/** Records and emits the start of the loop. Also records a rejected loop, because it has used its id. */
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
