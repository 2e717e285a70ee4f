import { errorText, ProviderError } from '../../types/errors.ts'
import type { StreamProvider, StreamRequest } from '../../types/provider.ts'
import type { Exchange } from '../shared/exchange.ts'
import type { TransportOptions } from '../shared/factory-options.ts'
import { loadPart } from '../shared/load-part.ts'
import { sendStreaming } from '../shared/send.ts'
import type { GeminiService } from './gemini-service.ts'

/** The provider for `service`. It keeps no state between calls, so one may serve any number of models and runs. */
export function geminiProvider(service: GeminiService, transport: TransportOptions): StreamProvider {
  return {
    api: service.api,
    encode: async (request) => {
      const { encodeRequest } = await codec()
      return safely(() => encodeRequest(request, service).encoded, request)
    },
    stream: async (request, emit, signal) => {
      const { GeminiDecoder, encodeRequest } = await codec()
      const { encoded, answerTool } = safely(() => encodeRequest(request, service), request)
      const decoder = new GeminiDecoder({ model: request.model, service: service.name, answerTool }, emit)
      const exchange: Exchange = { service: service.name, encoded, decoder, signal, transport }
      if (request.credential !== undefined) exchange.credential = request.credential
      if (service.browserHint !== undefined) exchange.browserHint = service.browserHint
      return await sendStreaming(exchange)
    },
  }
}

/** Loads with the first call, so that programs start without it. */
function codec(): Promise<typeof import('./codec.ts')> {
  return loadPart(import('./codec.ts'))
}

/** What goes wrong in encoding, such as arguments that are no JSON, is an error of the call like any other. */
function safely<Result>(encode: () => Result, { model }: StreamRequest): Result {
  try {
    return encode()
  } catch (error) {
    if (error instanceof ProviderError) throw error
    throw new ProviderError('other', `The request for ${model.id} cannot be encoded: ${errorText(error)}`)
  }
}
