// Start a Redis server, then run `node examples/recipes/sessions/redis-sessions.ts` several times: the conversation grows.
import { resumeAgent } from 'phi-core'
import { redisSessionStore } from 'phi-core/redis'
import { scripted } from 'phi-core/testing'
import { createClient } from 'redis'

const client = createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
// After an error, the client connects again.
client.on('error', () => undefined)
await client.connect()
const session = redisSessionStore({ client })

// A scripted model needs no key. For a real model, use `const model = await modelFromEnv()` from phi-core/env.
const model = scripted(({ messages }) => ({ text: `You have sent ${messages.filter(({ role }) => role === 'user').length} messages.` }))

const agent = await resumeAgent(session, 'chat-1', { model, create: true })
console.log(await agent.send('Hello.').text())
await agent.close()
await client.close()
