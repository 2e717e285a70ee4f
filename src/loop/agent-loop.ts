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
import { toMessages } from './prompt-input.ts'
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
  checkConfig(config)
  const inputs = toMessages(prompt)
  const identity = ensureIds(context, config)
  const { parentLoopId } = context
  return runLoop({ ...identity, parentLoopId, kind: { kind: 'initial' } }, context, config, options, {
    inputs: () => inputs,
    trigger: config.firstTurnTrigger ?? 'user',
  })
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
  return runLoop({ ...ensureIds(context, config), parentLoopId, kind }, context, config, options, {
    inputs: () => [],
    trigger: kind.kind === 'branch' ? 'branch' : 'continuation',
    ...(paused !== undefined && { paused }),
  })
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

interface LoopIdentity {
  agentId: string
  sessionId: string
  loopId: string
  parentLoopId: string | undefined
  kind: ContinuationKind
}

async function runLoop(
  identity: LoopIdentity,
  context: AgentContext,
  config: LoopConfig,
  options: LoopOptions,
  start: TurnsStart,
): Promise<RunResult> {
  const runId = options.runId ?? newId()
  const run = new LoopRun({ ...identity, runId }, context, config, options)
  const { agentId, parentLoopId, kind: continuationKind } = identity
  run.events.emit({
    type: 'agentStart',
    agentId,
    ...(parentLoopId !== undefined && { parentLoopId }),
    continuationKind,
    configSnapshot: configSnapshot(config),
    ...(options.metadata !== undefined && { metadata: options.metadata }),
  })
  const end = (status: RunStatus): RunResult => {
    run.release()
    context.lastLoopId = identity.loopId
    const ended = outcome(run, status)
    run.events.emit({ type: 'agentEnd', ...ended })
    const { sessionId, loopId } = identity
    return { runId, loopId, sessionId, text: finalText(run.newMessages), ...ended }
  }
  try {
    return await runTurns(run, start, end)
  } catch (error) {
    // Nothing below lets an error through; a defect must not cost the caller its agentEnd.
    run.fail(error)
    return end('error')
  }
}

function outcome(run: LoopRun, status: RunStatus): Pick<AgentEndEvent, 'status' | 'messages' | 'usage' | 'error' | 'pendingApprovals'> {
  const error = status === 'error' ? (run.failure ?? run.modelFailure) : undefined
  return {
    status,
    messages: run.newMessages,
    usage: run.usage,
    ...(error !== undefined && { error }),
    ...(status === 'paused' && { pendingApprovals: run.pausedCalls }),
  }
}

function finalText(messages: readonly AgentMessage[]): string {
  const last = messages.findLast((message) => message.role === 'assistant')
  return last === undefined ? '' : textOf(last.content)
}
