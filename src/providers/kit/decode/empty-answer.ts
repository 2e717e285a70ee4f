import { type AssistantMessage, now } from '../../../contract/message/message.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import { emptyUsage } from '../../../contract/model/usage.ts'

/** Returns a response of `model` without content. */
export function emptyAnswer(model: ModelConfig): AssistantMessage {
  return {
    role: 'assistant',
    content: [],
    stopReason: 'stop',
    model: model.id,
    provider: model.provider,
    usage: emptyUsage(),
    timestamp: now(),
  }
}
