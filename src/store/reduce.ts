import { dataPartOf, newestDataIn } from '../contract/message/data-part.ts'
import type { AgentMessage } from '../contract/message/message.ts'
import { combineUsage } from '../contract/model/usage.ts'
import type { ToolExecutionEndEvent } from '../contract/run/call-event.ts'
import type {
  AgentEndEvent,
  AgentEvent,
  AgentStartEvent,
  ChildEvent,
  DataEvent,
  ParallelLoopEndEvent,
  ProviderRetryEvent,
} from '../contract/run/event.ts'
import type { TurnEndEvent, TurnStartEvent } from '../contract/run/turn-event.ts'
import { newestPart, settleChild } from './reduce-child.ts'
import { messageEnded, messageStarted, messageUpdated } from './reduce-message.ts'
import { compactionEnded, compactionStarted, pruned, reverted } from './reduce-note.ts'
import {
  backgroundEnded,
  backgroundStarted,
  cancelOpenCalls,
  questioned,
  toolEnded,
  toolProgressed,
  toolStarted,
  toolUpdated,
} from './reduce-tool.ts'
import { type DataPartView, initialState, type RunState, type TurnView, withEntries } from './state.ts'

/**
 * Returns the state after `event`, without changing its argument.
 *
 * **Contract**
 * - Events can be replayed: an event at or before the same run's cursor returns the same state object.
 * - A merged delta (`fromSeq`) has the same result as its individual events. A merged delta that overlaps the state is skipped;
 *   `messageEnd` restores the exact text.
 * - An event of another run starts that run: keeps messages, tools and usage, and resets the rest.
 * - A delta costs O(blocks of its message), never O(conversation) or O(text). A nested loop's delta also costs O(active calls).
 * - When a retry has content, the failed response is removed from `messages`, but still counts in `usage` and `retries`. The history keeps
 *   it.
 * - Events of nested loops are reduced in the same way into `children`, which keeps only the newest 50 messages.
 */
export function reduce(state: RunState, event: AgentEvent): RunState {
  if (event.runId !== state.runId) return apply(beginRun(state, event), event)
  if (event.seq <= state.seq) return state
  if (event.type === 'messageUpdate' && event.fromSeq !== undefined && event.fromSeq <= state.seq) return { ...state, seq: event.seq }
  return apply({ ...state, seq: event.seq }, event)
}

function beginRun(state: RunState, event: AgentEvent): RunState {
  const { failure: _failure, rejection: _rejection, limit: _limit, endedBy: _endedBy, retry: _retry, ...kept } = state
  return {
    ...kept,
    status: 'running',
    seq: event.seq,
    runId: event.runId,
    loopId: event.loopId,
    sessionId: event.sessionId,
    data: lastingData(state),
    approvals: [],
    inputs: [],
    retries: 0,
    previousUsage: state.usage,
  }
}

function apply(state: RunState, event: AgentEvent): RunState {
  switch (event.type) {
    case 'agentStart':
      return agentStarted(state, event)
    case 'agentEnd':
      return agentEnded(state, event)
    case 'turnStart':
      return turnStarted(state, event)
    case 'turnEnd':
      return turnEnded(state, event)
    case 'messageStart':
      return messageStarted(state, event)
    case 'messageUpdate':
      return messageUpdated(state, event)
    case 'messageEnd':
      return withPartOf(messageEnded(state, event), event.message)
    case 'toolExecutionStart':
      return toolStarted(state, event)
    case 'toolExecutionUpdate':
      return toolUpdated(state, event)
    case 'toolExecutionEnd':
      return callEnded(state, event)
    case 'backgroundStart':
      return backgroundStarted(state, event)
    case 'backgroundEnd':
      return settleChild(backgroundEnded(state, event), event.toolCallId)
    case 'data':
      return { ...state, data: withData(state.data, event) }
    case 'progressMessage':
      return toolProgressed(state, event)
    case 'approvalRequested':
    case 'approvalResolved':
    case 'inputRequested':
    case 'inputResolved':
    case 'clientCallRequested':
    case 'clientCallResolved':
      return questioned(state, event)
    case 'providerRetry':
      return retried(state, event)
    case 'inputRejected':
      return { ...state, rejection: event.reason }
    case 'turnRequest':
      return { ...state, lastRequest: event.request }
    case 'compactionStarted':
      return compactionStarted(state, event)
    case 'compactionEnded':
      return compactionEnded(state, event)
    case 'prunApplied':
      return pruned(state, event)
    case 'revertApplied':
      return reverted(state, event)
    case 'parallelLoopStart':
      return { ...state, branches: { loopIds: event.loopIds } }
    case 'parallelLoopEnd':
      return branchSelected(state, event)
    case 'childEvent':
      return childReported(state, event)
    default:
      // Ignore unknown events from a newer server.
      return state
  }
}

function withData(all: RunState['data'], { name, dataId, value, transient, toolCallId }: DataEvent): RunState['data'] {
  const view: DataPartView = { name, dataId, value, ...(transient && { transient }), ...(toolCallId !== undefined && { toolCallId }) }
  const at = all.findIndex((each) => each.name === name && each.dataId === dataId)
  return at < 0 ? [...all, view] : all.with(at, view)
}

/** Removes transient parts. Stored parts that they replaced appear again. */
function lastingData({ data, messages }: RunState): RunState['data'] {
  if (!data.some(({ transient }) => transient)) return data
  const stored = newestDataIn(messages.flatMap(({ message }) => message ?? []))
  return data.flatMap((part) => (part.transient ? stored.filter(({ name, dataId }) => name === part.name && dataId === part.dataId) : part))
}

/** Adds the data part of a message, unless its event came before. */
function withPartOf(state: RunState, message: AgentMessage): RunState {
  const part = dataPartOf(message)
  if (part === undefined || state.data.some(({ name, dataId }) => name === part.name && dataId === part.dataId)) return state
  return { ...state, data: [...state.data, part] }
}

function agentStarted(state: RunState, event: AgentStartEvent): RunState {
  return { ...state, status: 'running', loopId: event.loopId }
}

function agentEnded(state: RunState, event: AgentEndEvent): RunState {
  const { retry: _over, ...rest } = state
  const paused = event.status === 'paused'
  const next: RunState = {
    ...rest,
    status: event.status,
    usage: combineUsage(state.previousUsage, event.usage),
    approvals: event.pendingApprovals ?? [],
    inputs: [],
    clientCalls: event.pendingClientCalls ?? [],
    tools: paused ? state.tools : cancelOpenCalls(state.tools),
  }
  if (event.error !== undefined) next.failure = event.error
  if (event.rejection !== undefined) next.rejection = event.rejection
  if (event.limit !== undefined) next.limit = event.limit
  if (event.endedBy !== undefined) next.endedBy = event.endedBy
  return Object.keys(state.children).reduce(settleChild, next)
}

function turnStarted(state: RunState, event: TurnStartEvent): RunState {
  const { loopId, turnIndex, triggeredBy, at } = event
  return { ...state, turns: [...state.turns, { loopId, turnIndex, triggeredBy, startedAt: at }] }
}

function turnEnded(state: RunState, event: TurnEndEvent): RunState {
  const usage = combineUsage(state.usage, event.usage)
  const index = state.turns.findLastIndex((turn) => turn.loopId === event.loopId && turn.turnIndex === event.turnIndex)
  const turn = state.turns[index]
  if (turn === undefined) return { ...state, usage }
  const ended: TurnView = { ...turn, endedAt: event.at, usage: event.usage }
  return { ...state, usage, turns: state.turns.with(index, ended) }
}

function retried(state: RunState, event: ProviderRetryEvent): RunState {
  const { attempt, maxRetries, error, at, delayMs } = event
  return { ...state, retries: state.retries + 1, retry: { attempt, maxRetries, error, retryAt: at + delayMs } }
}

/** Ends a run of branches, which has no `agentEnd`. */
function branchSelected(state: RunState, event: ParallelLoopEndEvent): RunState {
  const { selectedLoopId, selectedConfigIndex, evaluationUsage } = event
  const loopIds = state.branches?.loopIds ?? [selectedLoopId]
  const usage = combineUsage(state.usage, evaluationUsage)
  return { ...state, status: 'completed', usage, branches: { loopIds, selectedLoopId, selectedConfigIndex } }
}

/** The loop of a background call does not end with the call. */
function callEnded(state: RunState, event: ToolExecutionEndEvent): RunState {
  const ended = toolEnded(state, event)
  return state.tools[event.toolCallId]?.background?.status === 'running' ? ended : settleChild(ended, event.toolCallId)
}

function childReported(state: RunState, { toolCallId, event }: ChildEvent): RunState {
  const before = state.children[toolCallId] ?? initialState()
  const child = reduce(before, event)
  return child === before ? state : { ...state, children: withEntries(state.children, { [toolCallId]: newestPart(child) }) }
}
