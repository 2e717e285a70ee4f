import { count } from '../../../base/http-answer.ts'
import type { RateLimit, RateLimited, RateLimits } from '../../../contract/model/usage.ts'
import { clockOf, untilMs } from './retry-after.ts'

/**
 * Header names for each limit. `*` is `limit`, `remaining` or `reset`. The first header that is present applies. Gemini and Bedrock send no
 * such headers.
 */
const headerNames: readonly (readonly [limited: RateLimited, names: readonly string[]])[] = [
  // Anthropic · OpenAI, Azure, Groq and compatible providers · Cerebras · OpenRouter
  ['requests', ['anthropic-ratelimit-requests-*', 'x-ratelimit-*-requests', 'x-ratelimit-*-requests-day', 'x-ratelimit-*']],
  ['tokens', ['anthropic-ratelimit-tokens-*', 'x-ratelimit-*-tokens', 'x-ratelimit-*-tokens-minute']],
  ['inputTokens', ['anthropic-ratelimit-input-tokens-*']],
  ['outputTokens', ['anthropic-ratelimit-output-tokens-*']],
]

/** Returns the rate limits in response headers, or `undefined` if there are none. */
export function rateLimitsIn(headers: Headers): RateLimits | undefined {
  let stated: Map<string, string> | undefined
  // Iterate over all headers once, because looking up each name costs more than decoding a short response.
  for (const [name, value] of headers) {
    if (!name.includes('ratelimit')) continue
    stated ??= new Map()
    stated.set(name, value)
  }
  return stated && limitsIn(stated, clockOf(headers))
}

function limitsIn(stated: ReadonlyMap<string, string>, clock: number): RateLimits | undefined {
  const limits: RateLimits = {}
  for (const [limited, names] of headerNames) {
    for (const name of names) {
      const found = limitOf(stated, name, clock)
      if (found === undefined) continue
      limits[limited] = found
      break
    }
  }
  return Object.keys(limits).length === 0 ? undefined : limits
}

/** Returns one limit. Ignores a reset time without a limit: Azure sends one with the limit -1, which means no limit. */
function limitOf(stated: ReadonlyMap<string, string>, name: string, clock: number): RateLimit | undefined {
  const part = (word: string) => stated.get(name.replace('*', word))
  const limit = count(part('limit'))
  const remaining = count(part('remaining'))
  if (limit === undefined && remaining === undefined) return undefined
  const reset = part('reset')
  const resetMs = reset === undefined ? undefined : untilMs(reset, clock)
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetMs !== undefined && { resetMs }),
  }
}
