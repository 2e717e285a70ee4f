import type { NewSessionRecord, SessionStore } from '../../src/types/session/session-store.ts'

/** A record that says `text`. */
export function userMessage(text: string): NewSessionRecord {
  const message = { role: 'user' as const, id: text.slice(0, 40), content: [{ type: 'text' as const, text }], timestamp: 1 }
  return { loopId: 'loop', turnIndex: 0, entry: { type: 'input', message } }
}

/** The texts of the records in a log, in their order. */
export async function textsOf(store: SessionStore, sessionId: string, after = 0): Promise<string[]> {
  const { records } = await store.tail(sessionId, { after })
  return records.map(({ entry }) => {
    if (entry.type !== 'input' || entry.message.role !== 'user') return `(${entry.type})`
    const [block] = entry.message.content
    return block?.type === 'text' ? block.text : '(no text)'
  })
}

/** The code of what `promise` rejects with; `resolved` when it does not. */
export function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => String(Reflect.get(Object(error), 'code')),
  )
}
