import type { JsonValue } from '../../src/contract/json.ts'
import type { AgentMessage } from '../../src/contract/message/message.ts'
import type { LoopRecord, Session } from '../../src/contract/session/session.ts'
import type { SessionRecord } from '../../src/contract/session/session-record.ts'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'

const usage = { input: 1, output: 2, reasoning: 0, cacheRead: 3, cacheWrite: 4, totalTokens: 10 }

/** A session with an example of everything that a store could lose. `text` distinguishes it from other sessions. */
export function sampleSession(sessionId: string, text = 'Hello', agentId = 'agent-1'): Session {
  const first = loop(sessionId, agentId, `${sessionId}.m.1`, conversation(text))
  const second = loop(sessionId, agentId, `${sessionId}.m.2`, [])
  return {
    sessionId,
    agentId,
    createdAt: 1,
    lastActiveAt: 5,
    formation: { type: 'inactivityTimeout', at: 1, thresholdSecs: 60, previousSessionId: 'before' },
    parentSpawnRef: { parentSessionId: 'p', parentLoopId: 'p.m.1', toolCallId: 'c', toolName: 't' },
    scope: 'persistent',
    loops: [
      { ...first, childrenLoopIds: [second.loopId] },
      { ...second, parentLoopId: first.loopId, continuationKind: { kind: 'branch', tag: 'b' }, status: 'rejected', rejection: 'No.' },
    ],
  }
}

function loop(sessionId: string, agentId: string, loopId: string, messages: AgentMessage[]): LoopRecord {
  return {
    ...{ loopId, sessionId, agentId, continuationKind: { kind: 'initial' }, startedAt: 2, endedAt: 4, status: 'completed' },
    ...{ messages, turns: [], usage, metadata: { deep: [1.5, null, { a: true }] }, events: [], childrenLoopIds: [] },
    childLoopRefs: [{ toolCallId: 'c1', toolName: 'search', childLoopId: 'x.m.1', childSessionId: 'x' }],
    prunes: [{ id: 'p1', at: 3, messageIds: ['m1'], memo: 'gone', tokensRemoved: 7 }],
  }
}

function conversation(text: string): AgentMessage[] {
  return [
    { role: 'user', id: 'm1', content: [{ type: 'text', text }], timestamp: 1, turnId: { loopId: 'l', turnIndex: 0 } },
    {
      role: 'assistant',
      id: 'm2',
      content: [
        { type: 'thinking', thinking: nastyText, signature: 's' },
        { type: 'toolCall', id: 'c1', name: 'search', arguments: { deep: [1.5, null, { a: true }] } },
      ],
      ...{ stopReason: 'toolUse', model: 'm', provider: 'p', usage, timestamp: 2 },
    },
    { role: 'toolResult', id: 'm3', toolCallId: 'c1', toolName: 'search', content: [], isError: true, timestamp: 3 },
    { role: 'extension', id: 'm4', kind: 'note', data: null },
  ]
}

/** Texts that break stores that split lines, end strings at NUL, or assume valid UTF-8. */
export const nastyText = 'é 😀 \u0000 \n \r\n \u2028 \ud800 \ufeff "\\ '

/** Creates a record that contains `data`. */
export function note(data: JsonValue): NewSessionRecord {
  return { loopId: 'l', turnIndex: 0, at: 1, entry: { type: 'input', message: { role: 'extension', id: 'm', kind: 'note', data } } }
}

/** Creates a user message. */
export function userMessage(text: string): NewSessionRecord {
  const message: AgentMessage = { role: 'user', id: `m-${text}`, content: [{ type: 'text', text }], timestamp: 1 }
  return { loopId: 'l', turnIndex: 0, at: 1, entry: { type: 'input', message } }
}

/** The first record of a session. Lists may take the agent from it, or from the agent that opened the session. */
export function beginning(agentId: string): NewSessionRecord {
  return { at: 1, entry: { type: 'sessionStart', agentId, formation: { type: 'firstLoop', at: 1 }, scope: 'persistent' } }
}

/** Returns the texts that `note` put into these records, and the types of other records. */
export function notesIn(records: readonly Pick<SessionRecord, 'entry'>[]): JsonValue[] {
  return records.map(({ entry }) => (entry.type === 'input' && entry.message.role === 'extension' ? entry.message.data : entry.type))
}
