import { isLlmMessage } from '../../../src/context.ts'
import { textOf } from '../../../src/index.ts'
import type { Backend, StoredSession } from '../state/backend/chat-port.ts'

/** A conversation that matches, with an excerpt around the match. The excerpt is absent if only the title matches. */
export interface Hit {
  session: StoredSession
  excerpt?: string
}

/** Cached texts of conversations by id, as of their last record. */
const texts = new Map<string, { at: number; text: string }>()
const [before, after] = [20, 80]

/** Searches for `query` in the titles and messages of all stored conversations. Yields all matches so far after each new match. */
export async function* searchSessions(backend: Backend, query: string): AsyncGenerator<readonly Hit[]> {
  const wanted = query.trim().toLowerCase()
  const hits: Hit[] = []
  for (const session of await backend.list(Number.POSITIVE_INFINITY)) {
    const text = await textIn(backend, session)
    const at = text.toLowerCase().indexOf(wanted)
    if (at >= 0) hits.push({ session, excerpt: excerptOf(text, at) })
    else if (session.title.toLowerCase().includes(wanted)) hits.push({ session })
    else continue
    yield [...hits]
  }
  yield hits
}

/** Returns the whole words around the match, without Markdown syntax. */
function excerptOf(text: string, at: number): string {
  const [from, to] = [Math.max(0, at - before), at + after]
  const cut = text
    .slice(from, to)
    .replace(/[*_`#>|]+/g, '')
    .replace(/\s+/g, ' ')
  const begun = from === 0 ? cut : `…${cut.replace(/^\S*\s/, '')}`
  return to >= text.length ? begun : `${begun.replace(/[\s.,:;]\S*$/, '').replace(/[\s.,:;]+$/, '')}…`
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
    // An unreadable conversation is found only by its title.
    return ''
  }
}
