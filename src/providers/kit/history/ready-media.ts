import { ProviderError } from '../../../contract/errors.ts'
import { mediaName } from '../../../contract/message/block-words.ts'
import type { Content, FileContent, ImageContent } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../../contract/model/model-config.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import { type MediaRules, whyLeftOut } from './media.ts'

/** Whose media are looked at: its protocol, and what its models take. */
export interface MediaTarget {
  api: ApiProtocol
  codec: { media?(model: ModelConfig): MediaRules }
}

/**
 * Throws `ProviderError` `unsupportedMedia` where all media are required and the model does not take one of them: it names the block, the model and
 * what that takes. What a service attached to an answer of its own goes back to it, whatever it is.
 */
export function checkMedia(request: StreamRequest, { api, codec }: MediaTarget): void {
  const { model, requireMedia = model.requireMedia, messages } = request
  const rules = requireMedia === true ? codec.media?.(model) : undefined
  if (rules === undefined) return
  for (const message of messages) {
    for (const block of mediaOf(message)) {
      if (block.providerState?.api === api && block.providerState.model === model.id) continue
      const reason = whyLeftOut(block, rules, api)
      if (reason !== undefined) throw unsupported(block, reason, model, rules)
    }
  }
}

/** Media of a message that is sent: failed answers are not. */
function mediaOf(message: Message): (ImageContent | FileContent)[] {
  if (message.role === 'assistant' && (message.stopReason === 'error' || message.stopReason === 'aborted')) return []
  return message.content.filter(isMedia)
}

function isMedia(block: Content): block is ImageContent | FileContent {
  return block.type === 'image' || block.type === 'file'
}

function unsupported(block: ImageContent | FileContent, reason: string, model: ModelConfig, { media }: MediaRules): ProviderError {
  const taken = media.length === 0 ? 'text only' : `${media.join(', ')}, and text`
  const what = `${block.type === 'image' ? 'The picture' : 'The file'} ${mediaName(block)} cannot be sent to ${model.id}: ${reason}.`
  const next = 'Ask a model that takes it, send it in another form, or leave out requireMedia: a line then stands in its place.'
  return new ProviderError('unsupportedMedia', `${what} It takes ${taken}. ${next}`)
}
