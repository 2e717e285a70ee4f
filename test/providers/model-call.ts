import type { Content } from '../../src/types/content.ts'
import type { AssistantMessage, ToolResultMessage, UserMessage } from '../../src/types/message.ts'
import type { ModelConfig } from '../../src/types/model-config.ts'
import type { StreamEvent, StreamProvider, StreamRequest } from '../../src/types/provider.ts'

export function user(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: 1 }
}

/** What the tool `read` returned. */
export function result(toolCallId: string, content: Content[] = [{ type: 'text', text: 'ok' }], isError = false): ToolResultMessage {
  return { role: 'toolResult', toolCallId, toolName: 'read', content, isError, timestamp: 1 }
}

/** A request to `model` with everything else at its default. */
export function plainRequest(model: ModelConfig, credential: string): StreamRequest {
  return {
    model,
    credential,
    systemPrompt: 'Be brief.',
    messages: [user('Hi')],
    tools: [],
    thinkingLevel: 'off',
    cache: { type: 'auto' },
  }
}

/** What came of one call: the message or the error, and every event. */
export interface Outcome {
  message?: AssistantMessage
  error?: unknown
  events: StreamEvent[]
}

/** Makes one call and never rejects. */
export async function outcomeOf(
  provider: StreamProvider,
  request: StreamRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const events: StreamEvent[] = []
  try {
    const message = await provider.stream(request, (event) => events.push(event), signal)
    return { message, events }
  } catch (error) {
    return { error, events }
  }
}
