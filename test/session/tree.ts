import type { AgentMessage, AssistantMessage } from '../../src/contract/message/message.ts'
import { emptyUsage, type Usage } from '../../src/contract/model/usage.ts'
import type { LoopRecord, ParallelGroupRecord, Session } from '../../src/contract/session/session.ts'
import type { SessionEntry, SessionRecord } from '../../src/contract/session/session-record.ts'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'

export function usageOf(tokens: number): Usage {
  return { input: tokens, output: tokens, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 2 * tokens }
}

/** A loop that completed, changed by `fields`. */
export function loop(loopId: string, fields: Partial<LoopRecord> = {}): LoopRecord {
  return {
    loopId,
    sessionId: 's',
    agentId: 'a',
    continuationKind: { kind: 'initial' },
    startedAt: 1000,
    endedAt: 2000,
    status: 'completed',
    messages: [],
    turns: [],
    usage: emptyUsage(),
    events: [],
    childrenLoopIds: [],
    childLoopRefs: [],
    ...fields,
  }
}

export function session(loops: LoopRecord[], fields: Partial<Session> = {}): Session {
  const formation = { type: 'firstLoop' as const, at: 1000 }
  return { sessionId: 's', agentId: 'a', createdAt: 1000, lastActiveAt: 1000, formation, scope: 'ephemeral', loops, ...fields }
}

export function group(allLoopIds: string[], selectedLoopId: string, loopId: string): ParallelGroupRecord {
  const selectedConfigIndex = allLoopIds.indexOf(selectedLoopId)
  return { allLoopIds, selectedLoopId, selectedConfigIndex, evaluationUsage: emptyUsage(), isSelected: loopId === selectedLoopId }
}

export function user(id: string, words = id): AgentMessage {
  return { role: 'user', id, content: [{ type: 'text', text: words }], timestamp: 1 }
}

/** An answer that makes these calls, or only says something. */
export function answer(id: string, callIds: string[] = [], fields: Partial<AssistantMessage> = {}): AgentMessage {
  const calls = callIds.map((callId) => ({ type: 'toolCall' as const, id: callId, name: 'act', arguments: {} }))
  return {
    role: 'assistant',
    id,
    content: calls.length === 0 ? [{ type: 'text', text: id }] : calls,
    stopReason: calls.length === 0 ? 'stop' : 'toolUse',
    model: 'm',
    provider: 'p',
    usage: usageOf(1),
    timestamp: 1,
    ...fields,
  }
}

export function result(callId: string, id = `r-${callId}`): AgentMessage {
  return { role: 'toolResult', id, toolCallId: callId, toolName: 'act', content: [], isError: false, timestamp: 1 }
}

/** Records of one loop, by what they say. */
export function entries(loopId: string, ...made: SessionEntry[]): NewSessionRecord[] {
  return made.map((entry) => ({ loopId, turnIndex: 0, entry }))
}

export function intent(toolCallId: string, idempotent = false): SessionEntry {
  return { type: 'toolIntent', toolCallId, toolName: 'act', arguments: {}, idempotent }
}

export function loopStart(parentLoopId?: string): SessionEntry {
  const snapshot = { model: 'm', provider: 'p', name: 'M', api: 'openAiCompletions', baseUrl: '', reasoning: false } as const
  const config = { ...snapshot, contextWindow: 1, maxTokens: 1, thinkingLevel: 'low' as const, configId: 'c', temperature: 0.5 }
  return { type: 'loopStart', continuationKind: { kind: 'initial' }, config, ...(parentLoopId !== undefined && { parentLoopId }) }
}

export const loopEnd: SessionEntry = { type: 'loopEnd', status: 'completed', usage: usageOf(5) }
export const turnStart: SessionEntry = { type: 'turnStart', triggeredBy: 'user' }
export const input = (message: AgentMessage): SessionEntry => ({ type: 'input', message })
export const assistant = (message: AgentMessage): SessionEntry => ({ type: 'assistant', message })
export const toolResult = (message: AgentMessage): SessionEntry => ({ type: 'toolResult', message })

/** Numbers records as one log: every part is one writer's, times go up by ten. */
export function log(...writers: NewSessionRecord[][]): SessionRecord[] {
  let seq = 0
  return writers.flatMap((records, writer) =>
    records.map((record) => {
      seq += 1
      return { at: seq * 10, ...record, epoch: writer + 1, seq }
    }),
  )
}
