import type { ThinkingContent } from '../../types/content.ts'
import type { ModelCapabilities, ModelConfig } from '../../types/model-config.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { legalId } from '../shared/legal-id.ts'
import type { NormaliseTarget } from '../shared/normalise.ts'
import { isOpenAiModel, responsesCapabilities } from './capabilities.ts'
import { type MessageEncoder, messageEncoder } from './encode-message.ts'
import { isReplayable, replayPayload } from './replay-state.ts'

/** How one model is spoken to. */
export interface Dialect {
  capabilities: ModelCapabilities
  /** The rules of OpenAI's own models hold. */
  isOpenAi: boolean
  target: NormaliseTarget
  encoder: MessageEncoder
}

/** Source: reference/providers.md §0 "Target: tool id rule". */
const toolCallId = legalId('\\x21-\\x7e', 64)

const withImages = messageEncoder(true)
const withoutImages = messageEncoder(false)

/** The dialect of a model, made once per configuration object. */
export const dialectOf = perObject((model: ModelConfig): Dialect => {
  const capabilities = responsesCapabilities(model)
  return {
    capabilities,
    isOpenAi: isOpenAiModel(model),
    target: { api: model.api, provider: model.provider, model: model.id, images: capabilities.images, toolCallId, keepsThinking },
    encoder: capabilities.imagesInToolResults ? withImages : withoutImages,
  }
})

function keepsThinking({ providerState }: ThinkingContent): boolean {
  return isReplayable(replayPayload(providerState).item)
}
