import type { StreamProvider } from '../../types/provider.ts'
import type { Exchange } from '../shared/exchange.ts'
import type { TransportOptions } from '../shared/factory-options.ts'
import { loadPart } from '../shared/load-part.ts'
import { safely } from '../shared/safely.ts'
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
      const { GeminiDecoder, encodeRequest } = await codec(signal)
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
function codec(signal?: AbortSignal): Promise<typeof import('./codec.ts')> {
  return loadPart(import('./codec.ts'), signal)
}
