import type { ChatAgent } from '../../../src/client.ts'
import type { AgentRun, Receipt } from '../../../src/index.ts'
import type { ChatPort, ModelFacts } from '../state/backend/chat-port.ts'

/** The port for a finished conversation. It emits nothing and rejects every action. */
export function silentPort(sessionId: string, model: ModelFacts): ChatPort {
  const refuse = (): AgentRun & Receipt => {
    throw new Error('This is a replay and sends nothing.')
  }
  const agent: ChatAgent = {
    ...{ sessionId, messages: [], currentRun: undefined, isStreaming: false },
    ...{ prompt: refuse, send: refuse, continueLoop: refuse, compact: refuse, regenerate: refuse, editAndResend: refuse },
    ...{ steer: refuse, followUp: refuse, abort: () => undefined },
    pendingApprovals: () => [],
    pendingClientCalls: () => [],
    subscribe: () => () => undefined,
  }
  return { agent, model, recorded: async () => undefined, close: async () => undefined }
}
