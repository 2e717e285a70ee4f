import { type ChatAgent, type RemoteSession, remoteSession } from 'phi-core/client'
import { allMessages, createStore } from 'phi-core/store'

/** Opens a session on a server. The client calls `token` before each request, so the token can change. */
export async function openChat(url: string, sessionId: string, token: () => Promise<string>): Promise<RemoteSession> {
  const session = remoteSession({ url, sessionId, headers: async () => ({ authorization: `Bearer ${await token()}` }) })
  await session.load()
  return session
}

/** Calls `show` when a local or remote conversation changes, at most once per frame. Returns a function that stops it. */
export function showChat(agent: ChatAgent, show: (lines: string[]) => void, schedule: (flush: () => void) => void): () => void {
  const store = createStore(agent, { schedule })
  const publish = () => {
    const messages = allMessages(store.getSnapshot())
    show(
      messages.map(
        ({ role, blocks }) => `${role}: ${blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')}`,
      ),
    )
  }
  publish()
  store.subscribe(publish)
  return store.close
}
