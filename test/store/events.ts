import type { AssistantMessage, LlmMessage } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import type { RunStatus } from '../../src/contract/run/run-facts.ts'

type Body<E> = E extends AgentEvent ? Omit<E, 'runId' | 'seq' | 'at' | 'sessionId' | 'loopId'> : never

/** An event without what every event carries. */
export type EventBody = Body<AgentEvent>

/** Numbers and dates `bodies` as one run: `seq` from 1, one event every 10 ms. */
export function asRun(bodies: readonly EventBody[], runId = 'run-1'): AgentEvent[] {
  return bodies.map((body, index) => ({ ...body, runId, seq: index + 1, at: 1000 + index * 10, sessionId: 's', loopId: 's.demo.1' }))
}

export const agentStart: EventBody = {
  type: 'agentStart',
  agentId: 'a',
  continuationKind: { kind: 'initial' },
  configSnapshot: {
    model: 'demo',
    provider: 'scripted',
    name: 'Demo',
    api: 'openAiCompletions',
    baseUrl: '',
    reasoning: false,
    contextWindow: 1000,
    maxTokens: 100,
    thinkingLevel: 'off',
  },
}

export const turnStart: EventBody = { type: 'turnStart', turnIndex: 0, triggeredBy: 'user' }

export function agentEnd(status: RunStatus = 'completed'): EventBody {
  return { type: 'agentEnd', status, messages: [], usage: { ...emptyUsage(), output: 7, totalTokens: 7 } }
}

export function assistant(id: string, content: AssistantMessage['content'] = []): LlmMessage {
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    stopReason: 'stop',
    model: 'demo',
    provider: 'scripted',
    usage: emptyUsage(),
    timestamp: 1,
  }
  return { ...message, id }
}

export function start(id: string): EventBody {
  return { type: 'messageStart', messageId: id, message: assistant(id) }
}

export function textDelta(id: string, delta: string, contentIndex = 0): EventBody {
  return { type: 'messageUpdate', messageId: id, delta: { type: 'text', contentIndex, delta } }
}

export function end(id: string, content: AssistantMessage['content']): EventBody {
  return { type: 'messageEnd', messageId: id, message: assistant(id, content) }
}
