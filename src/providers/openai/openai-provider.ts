import { errorText, ProviderError } from '../../types/errors.ts'
import type { AssistantMessage } from '../../types/message.ts'
import type { EncodedRequest, StreamEvent, StreamProvider, StreamRequest } from '../../types/provider.ts'
import type { TransportOptions } from '../shared/factory-options.ts'
import { sendStreaming } from '../shared/send.ts'
import { ChatDecoder } from './chat-decoder.ts'
import { dialectOf } from './dialect.ts'
import { encodeRequest } from './encode-request.ts'

const serviceNames: { readonly [provider: string]: string } = { openai: 'OpenAI', openrouter: 'OpenRouter', local: 'The local server' }

/**
 * The provider for OpenAI Chat Completions and the services that speak it. It has no state: one serves any number of models and calls.
 * Source: reference/providers.md §2.
 */
export function openAiProvider(options: TransportOptions = {}): StreamProvider {
  async function encode(request: StreamRequest): Promise<EncodedRequest> {
    try {
      return encodeRequest(request, serviceOf(request))
    } catch (error) {
      if (error instanceof ProviderError) throw error
      throw new ProviderError('other', `The request for ${request.model.id} cannot be encoded: ${errorText(error)}`)
    }
  }

  async function stream(request: StreamRequest, emit: (event: StreamEvent) => void, signal: AbortSignal): Promise<AssistantMessage> {
    const encoded = await encode(request)
    const { compat, emptyBodyIsOverflow } = dialectOf(request.model)
    const service = serviceOf(request)
    const decoder = new ChatDecoder(request.model, service, compat.thinkingFormat === 'xai', emit)
    return await sendStreaming({
      service,
      encoded,
      decoder,
      signal,
      transport: options,
      emptyBodyIsOverflow,
      ...(request.credential === undefined ? {} : { credential: request.credential }),
    })
  }

  return { api: 'openAiCompletions', encode, stream }
}

/** How the service is called in messages. */
function serviceOf({ model }: StreamRequest): string {
  return Object.hasOwn(serviceNames, model.provider) ? (serviceNames[model.provider] ?? model.provider) : model.provider
}
