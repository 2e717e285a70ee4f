import * as z from 'zod'
import type { JsonObject } from '../contract/json.ts'
import { type ThinkingLevel, thinkingLevel } from '../contract/model/model-config.ts'
import type { LoopConfigSnapshot } from '../contract/run/run-facts.ts'
import { count, present, renamed, type SpecCodec, specCodec } from './codec.ts'
import { isWireProtocol, protocolCodec, protocolSchema } from './protocol.ts'

export const thinkingLevelSchema: z.ZodType<ThinkingLevel> = z.enum(thinkingLevel.words)

export const snapshotSchema: z.ZodType<Partial<LoopConfigSnapshot>> = z
  .looseObject({
    model: z.string().nullish(),
    provider: z.string().nullish(),
    config_id: z.string().nullish(),
    name: z.string().nullish(),
    api: protocolSchema.nullish(),
    base_url: z.string().nullish(),
    reasoning: z.boolean().nullish(),
    context_window: count.nullish(),
    max_tokens: count.nullish(),
    thinking_level: thinkingLevelSchema.nullish(),
    temperature: z.number().nullish(),
  })
  .transform((spec) => {
    const { model, provider, config_id, name, api, base_url, reasoning, context_window, ...more } = spec
    const { max_tokens, thinking_level, temperature, nativeApi, configId, baseUrl, contextWindow, maxTokens, thinkingLevel, ...rest } = more
    return {
      ...rest,
      ...present('model', model),
      ...present('provider', provider),
      ...present('configId', config_id),
      ...present('name', name),
      ...(typeof nativeApi === 'string' ? { api: nativeApi } : present('api', api)),
      ...present('baseUrl', base_url),
      ...present('reasoning', reasoning),
      ...present('contextWindow', context_window),
      ...present('maxTokens', max_tokens),
      ...present('thinkingLevel', thinking_level),
      ...present('temperature', temperature),
    } as const
  })

function encode({ api, ...snapshot }: Partial<LoopConfigSnapshot>): JsonObject {
  return {
    ...renamed(snapshot, {
      configId: 'config_id',
      baseUrl: 'base_url',
      contextWindow: 'context_window',
      maxTokens: 'max_tokens',
      thinkingLevel: 'thinking_level',
    }),
    config_id: snapshot.configId ?? null,
    ...(api === undefined ? {} : isWireProtocol(api) ? { api: protocolCodec.encode(api) } : { nativeApi: api }),
  }
}

/**
 * `LoopConfigSnapshot`: snake_case; `config_id` is `null` when there is none. Rust may leave out any other field, so reading gives a part.
 * Any other protocol (`scripted`, or one of somebody else) would make a whole file unreadable there, so it travels as `nativeApi`, a key that
 * Rust ignores.
 */
export const configSnapshotCodec: SpecCodec<Partial<LoopConfigSnapshot>> = specCodec('config', snapshotSchema, encode)
