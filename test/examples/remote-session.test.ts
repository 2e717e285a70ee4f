import { Agent, memorySessionStore } from 'phi-core'
import { bearer, createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { scripted } from 'phi-core/testing'
import { expect, it } from 'vitest'
import { openChat, showChat } from '../../examples/recipes/servers/remote-session.ts'
import { serve } from '../harness/serve.ts'

it('renders a remote session like a local agent', async () => {
  const model = scripted(() => ({ text: ['Hello', ' there.'] }))
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
  await using server = await serve(createAgentApp({ sessions, authorize: bearer('long-secret') }).fetch)
  const session = await openChat(server.url, 'chat-1', async () => 'long-secret')
  for (const agent of [session, new Agent({ model })]) {
    let shown: string[] = []
    const stop = showChat(agent, (lines) => (shown = lines), queueMicrotask)
    await agent.prompt('Hi.').result
    await undefined
    expect(shown).toEqual(['user: Hi.', 'assistant: Hello there.'])
    stop()
  }
  session.close()
  await sessions.close()
})
