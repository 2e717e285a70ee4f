import * as z from 'zod'
import type { JsonObject } from '../contract/json.ts'
import type { ApiProtocol } from '../contract/model/model-config.ts'
import type { ResponseFormat } from '../contract/model/request.ts'
import type { AnnotatedRequest, CapturedHttp } from '../contract/run/request-capture.ts'
import { count, fitting, present, renamed, type SpecCodec, specCodec } from './codec.ts'
import { jsonObject } from './content.ts'
import { bareMessageSchema, encodeMessage } from './message.ts'
import { provenanceCodec, provenanceSchema } from './provenance.ts'
import { thinkingLevelSchema } from './snapshot.ts'

const formatSchema: z.ZodType<ResponseFormat> = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text') }).transform(({ kind: _, ...rest }) => ({ ...rest, type: 'text' as const })),
  z.looseObject({ kind: z.literal('json-object') }).transform(({ kind: _, ...rest }) => ({ ...rest, type: 'jsonObject' as const })),
  z
    .looseObject({ kind: z.literal('json-schema'), schema: jsonObject, name: z.string(), strict: z.boolean().default(false) })
    .transform(({ kind: _, ...rest }) => ({ ...rest, type: 'jsonSchema' as const })),
])

function encodeFormat({ type, ...fields }: ResponseFormat): JsonObject {
  if (type === 'text') return { ...renamed(fields, {}), kind: 'text' }
  if (type === 'jsonObject') return { ...renamed(fields, {}), kind: 'json-object' }
  return { strict: false, ...renamed(fields, {}), kind: 'json-schema' }
}

/** `ResponseFormat`: kebab-case `kind`. A `strict` that is absent is written, and comes back, as `false`. */
export const responseFormatCodec: SpecCodec<ResponseFormat> = specCodec('response_format', formatSchema, encodeFormat)

const toolSchema = z.looseObject({ name: z.string(), description: z.string(), parameters: jsonObject })
const protocolName = z.custom<ApiProtocol>((value) => typeof value === 'string')
const httpSchema: z.ZodType<CapturedHttp> = z.looseObject({ url: z.string(), headers: z.record(z.string(), z.string()), body: z.string() })

/** What Rust keeps of a request: it does not say which service was asked. */
export type SpecRequest = Omit<AnnotatedRequest, 'provider' | 'api'> & Partial<Pick<AnnotatedRequest, 'provider' | 'api'>>

export const requestSchema: z.ZodType<SpecRequest> = z
  .looseObject({
    system_prompt: z.string(),
    messages: z.array(bareMessageSchema),
    provenance: z.array(provenanceSchema),
    tools: z.array(toolSchema),
    model_id: z.string(),
    thinking_level: thinkingLevelSchema,
    max_tokens: count.nullish(),
    temperature: z.number().nullish(),
    response_format: formatSchema.nullish(),
  })
  .transform((spec) => {
    const { system_prompt, model_id, thinking_level, max_tokens, temperature, response_format, provider, api, http, ...more } = spec
    const { maxTokens: _, responseFormat: __, ...rest } = more
    return {
      ...rest,
      systemPrompt: system_prompt,
      modelId: model_id,
      thinkingLevel: thinking_level,
      ...present('maxTokens', max_tokens),
      ...present('temperature', temperature),
      ...present('responseFormat', response_format),
      ...fitting('provider', z.string(), provider),
      ...fitting('api', protocolName, api),
      ...fitting('http', httpSchema, http),
    }
  })

function encode(request: SpecRequest): JsonObject {
  const names = { systemPrompt: 'system_prompt', modelId: 'model_id', thinkingLevel: 'thinking_level' } as const
  return {
    ...renamed(request, { ...names, maxTokens: 'max_tokens', responseFormat: 'response_format' }),
    messages: request.messages.map(encodeMessage),
    provenance: request.provenance.map(provenanceCodec.encode),
    max_tokens: request.maxTokens ?? null,
    temperature: request.temperature ?? null,
    response_format: encodeFormat(request.responseFormat ?? { type: 'text' }),
  }
}

/**
 * `AnnotatedRequest` as Rust's `AnnotatedRequestPayload`: snake_case, messages without made-up ids. `provider`, `api` and `http` are keys that
 * Rust ignores; where it did not write them, reading gives a part. A format that is absent is written, and comes back, as `text`.
 *
 * Source: docs/coming-from-rust.md
 */
export const annotatedRequestCodec: SpecCodec<SpecRequest> = specCodec('payload', requestSchema, encode)
