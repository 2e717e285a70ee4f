// npx wrangler dev -c examples/cloudflare/wrangler.toml     (in this repository, after `npm run build`)
// Secrets: `ACCESS_TOKEN` and `ANTHROPIC_API_KEY`, with `npx wrangler secret put …`, or in `.dev.vars` beside wrangler.toml.
import { timingSafeEqual } from 'hono/utils/buffer'
import { Agent } from 'phi-core'
import { createWorker } from 'phi-core/adapters/cloudflare'
import { anthropic } from 'phi-core/providers/anthropic'

/** What wrangler binds. `ANTHROPIC_BASE_URL` is for a gateway in front of the service. */
interface Bindings {
  ANTHROPIC_API_KEY: string
  ANTHROPIC_BASE_URL?: string
  ACCESS_TOKEN: string
}

export default createWorker<Bindings>({
  agent: ({ ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl }) =>
    new Agent({ model: anthropic('claude-sonnet-4-6', baseUrl === undefined ? { apiKey } : { apiKey, baseUrl }) }),
  authorize: ({ ACCESS_TOKEN }, request) => timingSafeEqual(request.headers.get('authorization') ?? '', `Bearer ${ACCESS_TOKEN}`),
})
