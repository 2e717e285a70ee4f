import * as z from 'zod'
import type { KnownApi } from '../contract/model/model-config.ts'
import { type SpecCodec, specCodec } from './codec.ts'

/** The protocols Rust knows: all that go over a wire. */
export type WireProtocol = KnownApi

/** The spelling in stored JSON. Configuration files spell three of them differently (`openai_completions`); Rust refuses that here. */
const spelling = {
  anthropicMessages: 'anthropic_messages',
  openAiCompletions: 'open_ai_completions',
  openAiResponses: 'open_ai_responses',
  azureOpenAiResponses: 'azure_open_ai_responses',
  googleGenerativeAi: 'google_generative_ai',
  googleVertex: 'google_vertex',
  bedrockConverseStream: 'bedrock_converse_stream',
} as const satisfies Record<WireProtocol, string>

const protocols = {
  anthropic_messages: 'anthropicMessages',
  open_ai_completions: 'openAiCompletions',
  open_ai_responses: 'openAiResponses',
  azure_open_ai_responses: 'azureOpenAiResponses',
  google_generative_ai: 'googleGenerativeAi',
  google_vertex: 'googleVertex',
  bedrock_converse_stream: 'bedrockConverseStream',
} as const satisfies Record<(typeof spelling)[WireProtocol], WireProtocol>

export const protocolSchema: z.ZodType<WireProtocol> = z.enum(spelling).transform((name) => protocols[name])

/** `ApiProtocol`: snake_case, with `open_ai` in two words. `scripted` is ours alone and has no spelling there. */
export const protocolCodec: SpecCodec<WireProtocol> = specCodec('api', protocolSchema, (api) => spelling[api])

/** Whether Rust knows this protocol. */
export function isWireProtocol(api: string): api is WireProtocol {
  return Object.hasOwn(spelling, api)
}
