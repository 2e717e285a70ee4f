import { type ChatAgent, type RemoteSession, remoteSession } from 'phi-core/client'
import { allMessages, createStore } from 'phi-core/store'

/** A conversation that lives on a server. `token` is asked before each request, so it may be renewed. */
export async function openChat(url: string, sessionId: string, token: () => Promise<string>): Promise<RemoteSession> {
  const session = remoteSession({ url, sessionId, headers: async () => ({ authorization: `Bearer ${await token()}` }) })
  await session.load()
  return session
}

/** Keeps `show` told of the conversation, at most once per frame: of an agent in this page as of one on a server. Returns how to stop. */
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
