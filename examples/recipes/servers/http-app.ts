import { Agent, type Model } from 'phi-core'
import { bearer, createAgentApp } from 'phi-core/http'

/** A Hono app with `POST /runs`: serve its `fetch` in Node, Deno, Bun or a Worker, or mount it with `app.route('/api', …)`. */
export function agentApp(model: Model, token: string | undefined) {
  return createAgentApp({
    agent: () => new Agent({ model, systemPrompt: 'You are a helpful assistant.' }),
    authorize: bearer(token),
  })
}
