import type { StreamProvider, StreamRequest } from '../../types/provider.ts'
import type { Exchange } from '../shared/exchange.ts'
import type { TransportOptions } from '../shared/factory-options.ts'
import { loadPart } from '../shared/load-part.ts'
import { safely } from '../shared/safely.ts'
import { sendStreaming } from '../shared/send.ts'

const serviceNames: { readonly [provider: string]: string } = { openai: 'OpenAI', openrouter: 'OpenRouter', local: 'The local server' }

/**
 * The provider for OpenAI Chat Completions and the services that speak it. It has no state: one serves any number of models and calls.
 * Source: reference/providers.md §2.
 */
export function openAiProvider(options: TransportOptions = {}): StreamProvider {
  return {
    api: 'openAiCompletions',
    encode: async (request) => {
      const { encodeRequest } = await codec()
      return safely(() => encodeRequest(request, serviceOf(request)).encoded, request)
    },
    stream: async (request, emit, signal) => {
      const { ChatDecoder, encodeRequest } = await codec(signal)
      const service = serviceOf(request)
      const { encoded, emptyBodyIsOverflow, isReasoningOutside, answerTool } = safely(() => encodeRequest(request, service), request)
      const decoder = new ChatDecoder(request.model, service, isReasoningOutside, emit, answerTool)
      const exchange: Exchange = { service, encoded, decoder, signal, transport: options, emptyBodyIsOverflow }
      if (request.credential !== undefined) exchange.credential = request.credential
      return await sendStreaming(exchange)
    },
  }
}

/** Loads with the first call, so that programs start without it. */
function codec(signal?: AbortSignal): Promise<typeof import('./codec.ts')> {
  return loadPart(import('./codec.ts'), signal)
}

/** How the service is called in messages. */
function serviceOf({ model }: StreamRequest): string {
  return Object.hasOwn(serviceNames, model.provider) ? (serviceNames[model.provider] ?? model.provider) : model.provider
}
