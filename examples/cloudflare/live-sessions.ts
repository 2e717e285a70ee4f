// npx wrangler dev -c examples/cloudflare/live-sessions.toml     (in this repository, after `npm run build`)
// Secrets: `ACCESS_TOKEN` and `ANTHROPIC_API_KEY`, with `npx wrangler secret put …`, or in `.dev.vars` beside the file.
// Without an `ACCESS_TOKEN` of 8 characters or more nobody is let in.
//
// POST /sessions/mine/runs            { "prompt": "…" }: a run, as server-sent events; it goes on when you leave
// GET  /sessions/mine/runs/…/events   the events after `Last-Event-ID`
// POST /sessions/mine/stop            stops it
// GET  /sessions/mine                 what was said
// GET  /sessions                      the ids, the most recent first
import { Hono } from 'hono'
import { bearer, durableObjectSessionStore, forwardToSession, LiveSessionObject, type ObjectNamespace } from 'phi-core/adapters/cloudflare'
import { anthropic } from 'phi-core/providers/anthropic'

export { IndexObject } from 'phi-core/adapters/cloudflare'

/** What live-sessions.toml binds. `ANTHROPIC_BASE_URL` is for a gateway in front of the service. */
interface Bindings {
  ANTHROPIC_API_KEY: string
  ANTHROPIC_BASE_URL?: string
  ACCESS_TOKEN?: string
  CONVERSATIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

/** One object per session: its agent runs here, without a client if need be. */
export class Conversation extends LiveSessionObject<Bindings> {
  protected agentOptions() {
    const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl } = this.env
    return { model: anthropic('claude-sonnet-4-6', baseUrl === undefined ? { apiKey } : { apiKey, baseUrl }) }
  }

  protected override index() {
    return this.env.INDEX
  }
}

const app = new Hono<{ Bindings: Bindings }>()

app.use(async (c, next) => {
  const isKnown = await bearer(c.env.ACCESS_TOKEN)(c)
  return isKnown ? next() : c.text('Send the access token as Authorization: Bearer …\n', 401)
})

app.get('/sessions', async (c) => {
  const store = durableObjectSessionStore({ sessions: c.env.CONVERSATIONS, index: c.env.INDEX })
  return c.json(await store.listIds())
})

// With more than one user, pass who it is as `tenant`, here and above.
app.all('/sessions/:id/:rest{.*}?', (c) => {
  const { id, rest = '' } = c.req.param()
  return forwardToSession(c.req.raw, { sessions: c.env.CONVERSATIONS, sessionId: id, path: `/${rest}` })
})

export default app
