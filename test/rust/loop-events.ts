import type { AgentEvent } from '../../src/index.ts'
import { EventRecorder } from '../../src/rust.ts'
import { usageOf, user } from '../session/tree.ts'

export type Body<E> = E extends AgentEvent ? Omit<E, 'runId' | 'seq' | 'at' | 'sessionId' | 'loopId'> : never

/** Events of one loop, made by hand: for orders in which no loop of ours reports. */
export function events(sessionId: string, loopId: string, bodies: readonly Body<AgentEvent>[], from = 1): AgentEvent[] {
  return bodies.map((body, index) => ({
    ...body,
    runId: `run ${loopId}`,
    seq: from + index,
    at: 1000 + 10 * (from + index),
    sessionId,
    loopId,
  }))
}

export function start(parentLoopId?: string): Body<AgentEvent> {
  const snapshot = { model: 'm', provider: 'p', name: 'M', api: 'openAiCompletions', baseUrl: '', reasoning: false } as const
  return {
    type: 'agentStart',
    agentId: 'a',
    continuationKind: { kind: 'initial' },
    configSnapshot: { ...snapshot, contextWindow: 1, maxTokens: 1, thinkingLevel: 'off' },
    ...(parentLoopId !== undefined && { parentLoopId }),
  }
}

export const turnStart: Body<AgentEvent> = { type: 'turnStart', turnIndex: 0, triggeredBy: 'user' }
export const said = (message = user('u')): Body<AgentEvent> => ({ type: 'messageEnd', messageId: message.id, message })
export const end: Body<AgentEvent> = { type: 'agentEnd', status: 'completed', messages: [], usage: usageOf(0) }
export const toolEnd = (childLoopId: string): Body<AgentEvent> => ({
  type: 'toolExecutionEnd',
  toolCallId: 'c1',
  toolName: 'sub',
  result: { content: [] },
  isError: false,
  childLoopId,
})

export function recorderOf(...streams: AgentEvent[][]): EventRecorder {
  const recorder = new EventRecorder()
  for (const event of streams.flat()) recorder.accept(event)
  return recorder
}
