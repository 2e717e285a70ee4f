// Run `node examples/recipes/sessions/sqlite-sessions.ts` several times: the conversation grows.
import { DatabaseSync } from 'node:sqlite'
import { resumeAgent } from 'phi-core'
import { sqliteSessionStore } from 'phi-core/sqlite'
import { scripted } from 'phi-core/testing'

const database = new DatabaseSync(process.env.SESSIONS ?? 'sessions.db')
const session = sqliteSessionStore({ database })

// A scripted model needs no key. For a real model, use `const model = await modelFromEnv()` from phi-core/env.
const model = scripted(({ messages }) => ({ text: `You have sent ${messages.filter(({ role }) => role === 'user').length} messages.` }))

const agent = await resumeAgent(session, 'chat-1', { model, create: true })
console.log(await agent.send('Hello.').text())
await agent.close()
database.close()
