// npx wrangler dev -c examples/cloudflare/live-sessions.toml
// Before: `cp -r node_modules/phi-core/examples . && npm install hono wrangler`, or `npm run build` in a clone.
// Secrets: `ACCESS_TOKEN` and `ANTHROPIC_API_KEY`, with `npx wrangler secret put …`, or in `.dev.vars` next to the file.
// Without an `ACCESS_TOKEN` of 8 characters or more, the server rejects every request.
import { bearer, createWorker, LiveSessionObject, type ObjectNamespace, objectLiveSessions } from 'phi-core/cloudflare'
import { anthropic } from 'phi-core/providers/anthropic'

export { IndexObject } from 'phi-core/cloudflare'

/** The bindings of live-sessions.toml. `ANTHROPIC_BASE_URL` is for a gateway in front of the provider. */
interface Bindings {
  ANTHROPIC_API_KEY: string
  ANTHROPIC_BASE_URL?: string
  ACCESS_TOKEN?: string
  CONVERSATIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

/** One object per session. The agent runs here, even without a connected client. */
export class Conversation extends LiveSessionObject<Bindings> {
  protected agentOptions() {
    const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl } = this.env
    return { model: anthropic('claude-sonnet-4-6', baseUrl === undefined ? { apiKey } : { apiKey, baseUrl }) }
  }

  protected override index() {
    return this.env.INDEX
  }
}

export default createWorker<Bindings>({
  sessions: (env) => objectLiveSessions({ sessions: env.CONVERSATIONS, index: env.INDEX }),
  // With more than one user, return the name of the user: each user then has separate sessions.
  authorize: (env, request) => bearer(env.ACCESS_TOKEN)(request),
})
