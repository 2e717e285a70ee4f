import { ConfigError } from '../types/errors.ts'
import type { AgentEndEvent, ContinuationKind, RunStatus } from '../types/event.ts'
import { newId } from '../types/ids.ts'
import { type AgentMessage, isLlmMessage, type LlmMessage, type PromptInput, textOf } from '../types/message.ts'
import type { RunResult } from '../types/run.ts'
import { checkConfig } from './check-config.ts'
import type { AgentContext, LoopConfig } from './loop-config.ts'
import { configSnapshot, nextLoopId } from './loop-id.ts'
import { type LoopOptions, LoopRun } from './loop-run.ts'
import { findPausedTurn } from './paused-turn.ts'
import { noInputs, promptSupplier, toMessages } from './prompt-input.ts'
import { runTurns, type TurnsStart } from './run-turns.ts'

/**
 * Starts a loop with new input: asks the model, runs the tools it wants, feeds the results back, until there is nothing left to do.
 *
 * **Contract**
 * - Appends to `context.messages`; writes missing `agentId`, `sessionId`, `loopId` back to `context`.
 * - Emits `agentStart` first and exactly one `agentEnd` last, whatever happens. Model failure, abort and limits resolve.
 * - Rejects only with `ConfigError`, `emptyPrompt` or `invalidOption`, before the first event and with `context` unchanged.
 *
 * Source: spec/02, spec/27 "agent_loop".
 */
export async function agentLoop(prompt: PromptInput, context: AgentContext, config: LoopConfig, options: LoopOptions): Promise<RunResult> {
  return startLoop(prompt, { kind: 'initial' }, context, config, options)
}

/** As `agentLoop`, for a loop that may be a branch. */
export async function startLoop(
  prompt: PromptInput,
  kind: ContinuationKind,
  context: AgentContext,
  config: LoopConfig,
  options: LoopOptions,
): Promise<RunResult> {
  checkConfig(config)
  const inputs = promptSupplier(toMessages(prompt))
  const trigger = kind.kind === 'branch' ? 'branch' : (config.firstTurnTrigger ?? 'user')
  const { parentLoopId } = context
  return runLoop({ kind, parentLoopId }, context, config, options, (run, end) => runTurns(run, { inputs, trigger }, end))
}

/**
 * Continues a conversation that ends with a user message or a tool result, or with calls that wait for an approval. Answers that failed or
 * were aborted do not count: they are never sent, and continuing after one asks the model again.
 *
 * **Contract**
 * - As `agentLoop`, without new input. `parentLoopId` defaults to the loop before.
 * - Rejects with `ConfigError`: `missingIds` without `agentId` and `sessionId` (an invented identity would break the trail),
 *   `emptyHistory`, `trailingAssistant`, `invalidOption`.
 *
 * Source: spec/02, spec/27 "agent_loop_continue".
 */
export async function continueLoop(context: AgentContext, config: LoopConfig, options: LoopOptions): Promise<RunResult> {
  checkConfig(config)
  const { paused } = checkContinuable(context)
  const parentLoopId = context.parentLoopId ?? context.lastLoopId
  const kind = context.continuationKind ?? { kind: 'default' }
  const trigger = kind.kind === 'branch' ? 'branch' : 'continuation'
  const start: TurnsStart = { inputs: noInputs, trigger, ...(paused !== undefined && { paused }) }
  return runLoop({ kind, parentLoopId }, context, config, options, (run, end) => runTurns(run, start, end))
}

/** Throws the `ConfigError` that says why `context` cannot be continued; returns the paused turn it ends with, if any. */
export function checkContinuable(context: AgentContext): Pick<TurnsStart, 'paused'> {
  if (context.agentId === undefined || context.sessionId === undefined) {
    throw new ConfigError('missingIds', 'A continuation needs context.agentId and context.sessionId; run agentLoop first or restore them.')
  }
  const last = context.messages.findLast((message) => isLlmMessage(message) && !isFailedAnswer(message))
  if (last === undefined) throw new ConfigError('emptyHistory', 'There is nothing to continue: the history is empty. Use a prompt.')
  const paused = findPausedTurn(context.messages)
  if (paused !== undefined) return { paused }
  if (last.role === 'assistant') {
    throw new ConfigError('trailingAssistant', 'The history ends with an answer of the model; there is nothing to continue. Use a prompt.')
  }
  return {}
}

/** Whether `checkContinuable` lets `context` pass. */
export function isContinuable(context: AgentContext): boolean {
  try {
    checkContinuable(context)
    return true
  } catch {
    return false
  }
}

function isFailedAnswer(message: LlmMessage): boolean {
  return message.role === 'assistant' && (message.stopReason === 'error' || message.stopReason === 'aborted')
}

/** Makes up the ids a context lacks and writes them back; keeps those it has. */
function ensureIds(context: AgentContext, config: LoopConfig): { agentId: string; sessionId: string; loopId: string } {
  context.agentId ??= newId()
  context.sessionId ??= newId()
  if (context.loopId === undefined || context.loopId === context.lastLoopId) {
    context.loopId = nextLoopId(context, context.sessionId, config)
  }
  return { agentId: context.agentId, sessionId: context.sessionId, loopId: context.loopId }
}

/** Where a loop comes from. */
export interface LoopOrigin {
  kind: ContinuationKind
  parentLoopId: string | undefined
}

/** What runs inside a loop: calls `end` once, as its last step, and resolves with what that returns. */
type LoopBody = (run: LoopRun, end: (status: RunStatus) => RunResult) => Promise<RunResult>

/**
 * One loop around `body`: identity, `agentStart`, hooks, and exactly one `agentEnd`, whatever `body` does.
 */
export async function runLoop(
  origin: LoopOrigin,
  context: AgentContext,
  config: LoopConfig,
  options: LoopOptions,
  body: LoopBody,
): Promise<RunResult> {
  const ids = { ...ensureIds(context, config), runId: options.runId ?? newId() }
  const run = new LoopRun(ids, context, config, options)
  const end = (status: RunStatus): RunResult => {
    run.release()
    context.lastLoopId = ids.loopId
    const ended = { ...outcome(run, status), messages: run.newMessages }
    run.events.emit({ type: 'agentEnd', ...ended })
    const { runId, sessionId, loopId } = ids
    return { runId, loopId, sessionId, text: finalText(run.newMessages), ...ended }
  }
  const result = await guarded(run, origin, body, end)
  if (config.journal) {
    await run.record({ type: 'loopEnd', ...outcome(run, result.status) }).catch((error) => run.warnFailed('loopEndNotRecorded', error))
  }
  await run.lifecycle?.afterLoop(result)
  return result
}

async function guarded(run: LoopRun, origin: LoopOrigin, body: LoopBody, end: (status: RunStatus) => RunResult): Promise<RunResult> {
  try {
    // Nothing is awaited where there is nothing to load: the first event comes at once.
    if (needsParts(run)) await import('./loop-parts.ts').then(({ addParts }) => addParts(run))
    const refused = run.lifecycle && (await run.lifecycle.beforeLoop())
    await announce(run, origin, refused)
    if (refused !== undefined) return end(refused)
    return await body(run, end)
  } catch (error) {
    // Nothing below lets an error through; a defect must not cost the caller its agentEnd.
    run.fail(error)
    return end('error')
  }
}

/** Nothing is awaited where there is no journal: the input follows at once. A loop that was refused is written down all the same: its id is taken. */
function announce(
  run: LoopRun,
  { kind: continuationKind, parentLoopId }: LoopOrigin,
  refused: RunStatus | undefined,
): Promise<void> | undefined {
  const { config, options, events } = run
  const { metadata } = options
  const snapshot = configSnapshot(config)
  const start = { ...(parentLoopId !== undefined && { parentLoopId }), continuationKind, ...(metadata !== undefined && { metadata }) }
  if (refused === undefined) events.emit({ type: 'agentStart', agentId: run.agentId, configSnapshot: snapshot, ...start })
  return config.journal && run.record({ type: 'loopStart', config: snapshot, ...start })
}

function needsParts({ config, context }: LoopRun): boolean {
  return config.hooks !== undefined || config.inputFilters !== undefined || context.tools.some((tool) => tool.revertPolicy !== undefined)
}

function outcome(run: LoopRun, status: RunStatus): Pick<AgentEndEvent, 'status' | 'usage' | 'error' | 'rejection' | 'pendingApprovals'> {
  const error = status === 'error' ? (run.failure ?? run.modelFailure) : undefined
  return {
    status,
    usage: run.usage,
    ...(error !== undefined && { error }),
    ...(status === 'rejected' && run.rejection !== undefined && { rejection: run.rejection }),
    ...(status === 'paused' && { pendingApprovals: run.pausedCalls }),
  }
}

function finalText(messages: readonly AgentMessage[]): string {
  const last = messages.findLast((message) => message.role === 'assistant')
  return last === undefined ? '' : textOf(last.content)
}
