import * as z from 'zod'
import type { Usage } from '../contract/model/usage.ts'
import { count, renamed, type SpecCodec, specCodec } from './codec.ts'

/** Only `input` and `output` are required; older files lack the rest. */
export const usageSchema: z.ZodType<Usage> = z
  .looseObject({
    input: count,
    output: count,
    reasoning: count.default(0),
    cache_read: count.default(0),
    cache_write: count.default(0),
    total_tokens: count.default(0),
  })
  .transform(({ cache_read, cache_write, total_tokens, ...rest }) => ({
    ...rest,
    cacheRead: cache_read,
    cacheWrite: cache_write,
    totalTokens: total_tokens,
  }))

/** `Usage`: snake_case keys. */
export const usageCodec: SpecCodec<Usage> = specCodec('usage', usageSchema, (usage) =>
  renamed(usage, { cacheRead: 'cache_read', cacheWrite: 'cache_write', totalTokens: 'total_tokens' }),
)
