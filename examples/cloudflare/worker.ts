// npx wrangler dev -c examples/cloudflare/wrangler.toml
// Before: `cp -r node_modules/phi-core/examples . && npm install hono wrangler`, or `npm run build` in a clone.
// Secrets: `ACCESS_TOKEN` and `ANTHROPIC_API_KEY`, with `npx wrangler secret put …`, or in `.dev.vars` next to wrangler.toml.
// Without an `ACCESS_TOKEN` of 8 characters or more, the server rejects every request.
import { Agent } from 'phi-core'
import { bearer, createWorker } from 'phi-core/cloudflare'
import { anthropic } from 'phi-core/providers/anthropic'

/** Bindings of the Worker. `ANTHROPIC_BASE_URL` is for a gateway in front of the API. */
interface Bindings {
  ANTHROPIC_API_KEY: string
  ANTHROPIC_BASE_URL?: string
  ACCESS_TOKEN?: string
}

export default createWorker<Bindings>({
  agent: ({ ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl }) =>
    new Agent({ model: anthropic('claude-sonnet-4-6', baseUrl === undefined ? { apiKey } : { apiKey, baseUrl }) }),
  authorize: ({ ACCESS_TOKEN }, request) => bearer(ACCESS_TOKEN)(request),
})
