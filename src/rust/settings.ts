import * as z from 'zod'
import type { JsonObject } from '../contract/json.ts'
import type { CacheStrategy } from '../contract/model/request.ts'
import type { ExecutionLimits, ToolExecutionStrategy } from '../contract/run/settings.ts'
import { count, present, renamed, type SpecCodec, specCodec } from './codec.ts'

/** Rust says "no limit" with the largest integer it has, which JSON numbers cannot hold; here it is `Infinity`. */
const limit = z
  .number()
  .min(0, 'number from 0')
  .transform((value) => (value >= Number.MAX_SAFE_INTEGER ? Number.POSITIVE_INFINITY : value))

function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

const limitsSchema: z.ZodType<ExecutionLimits> = z
  .looseObject({
    max_turns: limit,
    max_total_tokens: limit,
    max_duration: z.object({ secs: limit, nanos: count }),
    max_cost: z.number().nullish(),
  })
  .transform(({ max_turns, max_total_tokens, max_duration, max_cost, maxCost: _, ...rest }) => ({
    ...rest,
    maxTurns: max_turns,
    maxTotalTokens: max_total_tokens,
    maxDurationMs: max_duration.secs * 1000 + max_duration.nanos / 1_000_000,
    ...present('maxCost', max_cost),
  }))

function encodeLimits({ maxDurationMs, ...limits }: ExecutionLimits): JsonObject {
  const nanos = Number.isFinite(maxDurationMs) ? Math.floor((maxDurationMs % 1000) * 1_000_000) : 0
  return {
    ...renamed(limits, { maxTurns: 'max_turns', maxTotalTokens: 'max_total_tokens', maxCost: 'max_cost' }),
    max_turns: finite(limits.maxTurns),
    max_total_tokens: finite(limits.maxTotalTokens),
    max_duration: { secs: finite(Math.floor(maxDurationMs / 1000)), nanos },
    max_cost: limits.maxCost ?? null,
  }
}

/** `ExecutionLimits`: `max_duration` in seconds and nanoseconds, `max_cost` `null` when there is none. */
export const executionLimitsCodec: SpecCodec<ExecutionLimits> = specCodec('limits', limitsSchema, encodeLimits)

const strategySchema: z.ZodType<ToolExecutionStrategy> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('parallel') }),
  z.object({ type: z.literal('sequential') }),
  z.object({ type: z.literal('batched'), size: count }),
])

/** `ToolExecutionStrategy`: the same on both sides. */
export const toolExecutionStrategyCodec: SpecCodec<ToolExecutionStrategy> = specCodec('strategy', strategySchema, (value) => ({ ...value }))

const manual = z.object({ cache_system: z.boolean(), cache_tools: z.boolean(), cache_messages: z.boolean() })

const cacheSchema: z.ZodType<CacheStrategy> = z
  .object({
    enabled: z.boolean().default(true),
    strategy: z.union([z.enum(['auto', 'disabled']), z.object({ manual })], 'auto|disabled|{manual}').default('auto'),
  })
  .transform(({ enabled, strategy }) => {
    if (!enabled) return { type: 'disabled' }
    if (typeof strategy === 'string') return { type: strategy }
    const { cache_system, cache_tools, cache_messages } = strategy.manual
    return { type: 'manual', cacheSystem: cache_system, cacheTools: cache_tools, cacheMessages: cache_messages }
  })

function encodeCache(cache: CacheStrategy): JsonObject {
  if (cache.type !== 'manual') return { enabled: true, strategy: cache.type }
  const fields = { cache_system: cache.cacheSystem, cache_tools: cache.cacheTools, cache_messages: cache.cacheMessages }
  return { enabled: true, strategy: { manual: fields } }
}

/** Our `CacheStrategy` as Rust's `CacheConfig`. Its master switch `enabled: false` is read as `disabled`. */
export const cacheConfigCodec: SpecCodec<CacheStrategy> = specCodec('cache', cacheSchema, encodeCache)
