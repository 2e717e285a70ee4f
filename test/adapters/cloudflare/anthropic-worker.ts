import { createWorker } from '../../../adapters/cloudflare/index.ts'
import { Agent } from '../../../src/index.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'

// wrangler.toml binds these.
export { Conversation, IndexObject } from '../../../adapters/cloudflare/worker.ts'

/** What a user composes: a real protocol, against the fixture server, with pings close enough to notice a client that left. */
export default createWorker<{ MODEL_URL: string }>({
  agent: (env) => new Agent({ model: anthropic('claude-sonnet-4-6', { apiKey: 'test-key', baseUrl: env.MODEL_URL }) }),
  authorize: () => true,
  pingMs: 200,
})
