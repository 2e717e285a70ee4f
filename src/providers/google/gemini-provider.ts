import type { StreamProvider } from '../../types/model/provider.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { mediaRules } from '../kit/history/clean-message.ts'
import type { TransportOptions } from '../kit/provider-options.ts'
import { GeminiDecoder } from './decode/gemini-decoder.ts'
import { type GeminiService, requestEncoder } from './encode.ts'
import { geminiProfile } from './profile.ts'

/** The provider for `service`. It keeps no state of a call, so one may serve any number of models and runs. */
export function geminiProvider(service: GeminiService, transport: TransportOptions): StreamProvider {
  return defineProvider({
    api: service.api,
    service: service.name,
    transport,
    browserHint: service.browserHint,
    codec: {
      encode: requestEncoder(service),
      decoder: (call, context) => new GeminiDecoder(call, context),
      media: (model) => mediaRules(geminiProfile(model)),
      says: [],
      guards: ['systemInstruction', 'tools', 'toolConfig.functionCallingConfig'],
    },
  })
}

/** Tokens of context of a model, unless the configuration says otherwise. Gemma, the open family, takes less. */
export function contextWindowOf(id: string): number {
  return id.includes('gemma') ? 131_072 : 1_000_000
}
