import { Agent, resumeAgent, type SessionStore, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

/** Stores, resumes and deletes sessions and media, each time with a newly opened store, and returns what it found. For programs in any runtime. */
export async function useSessions(open: () => Promise<SessionStore>) {
  const model = scripted(({ messages }) => ({ text: `${messages.length} messages, ${'ü😀'.repeat(3)}` }))
  const agent = new Agent({ model, session: await open(), sessionId: 's' })
  await agent.prompt('One.').result
  await agent.close()
  const again = await resumeAgent(await open(), 's', { model })
  await again.send('Two.').result
  await again.close()
  const store = await open()
  const { loops } = await store.load('s')
  const file = { type: 'file' as const, mimeType: 'text/plain', data: btoa('x'.repeat(100_000)) }
  const media = new Agent({ model, session: store, sessionId: 'm' })
  await media.prompt({ role: 'user', content: [file] }).result
  await media.close()
  const [message] = (await resumeAgent(await open(), 'm', { model })).messages
  const blob = message?.role === 'user' && message.content[0]?.type === 'file' ? message.content[0].blob : undefined
  const bytes = blob === undefined ? undefined : await store.blob('m', blob.hash)
  return {
    texts: loops.flatMap(({ messages }) => messages.flatMap((each) => (each.role === 'extension' ? [] : [textOf(each.content)]))),
    listed: (await store.list()).sessions.map(({ sessionId, messages }) => `${sessionId} ${messages}`).toSorted(),
    bytes: bytes?.length,
    deleted: await store.delete('s'),
  }
}

/** What `useSessions` returns in each runtime. */
export const foundSessions = {
  texts: ['One.', '1 messages, ü😀ü😀ü😀', 'Two.', '3 messages, ü😀ü😀ü😀'],
  listed: ['m 2', 's 4'],
  bytes: 100_000,
  deleted: true,
}
