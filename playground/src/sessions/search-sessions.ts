import { isLlmMessage } from '../../../src/context/index.ts'
import { textOf } from '../../../src/index.ts'
import type { Backend, StoredSession } from '../state/chat-port.ts'

/** The conversations in which something was found, with the place where. */
export type Found = ReadonlyMap<string, string | undefined>

/** What was said in conversations that were read already, by id, as of the time of their last record. */
const texts = new Map<string, { at: number; text: string }>()
const excerptLength = 80

/** Looks for `query` in titles, and in what was said. */
export async function searchSessions(backend: Backend, sessions: readonly StoredSession[], query: string): Promise<Found> {
  const wanted = query.trim().toLowerCase()
  const found = new Map<string, string | undefined>()
  for (const session of sessions) {
    const text = await textIn(backend, session)
    const at = text.toLowerCase().indexOf(wanted)
    if (at >= 0) found.set(session.sessionId, text.slice(Math.max(0, at - excerptLength / 4), at + excerptLength).replace(/\s+/g, ' '))
    else if (session.title.toLowerCase().includes(wanted)) found.set(session.sessionId, undefined)
  }
  return found
}

async function textIn(backend: Backend, { sessionId, lastActiveAt }: StoredSession): Promise<string> {
  const known = texts.get(sessionId)
  if (known !== undefined && known.at === lastActiveAt) return known.text
  try {
    const { loops } = await backend.read(sessionId, { events: false })
    const text = loops.flatMap(({ messages }) => messages.filter(isLlmMessage).map(({ content }) => textOf(content))).join('\n')
    texts.set(sessionId, { at: lastActiveAt, text })
    return text
  } catch {
    // One that cannot be read is found by its title alone.
    return ''
  }
}
