import { indexedDbSessionStore } from '../../adapters/browser/index.ts'
import type { SessionStore } from '../../src/index.ts'

/** What the tests call in the page. Bundled by `session-store.e2e.ts`; `acknowledged` and `takenOver` are functions of the test. */
export interface SessionPage {
  openIds(): Promise<string[]>
  /** Takes session `s` over, and gives the texts that are in it and what is wrong with it. */
  open(): Promise<{ texts: string[]; damage: string | undefined }>
  texts(): Promise<string[]>
  /** Appends records one by one, telling the test of each that is acknowledged, until `count` or a refusal; gives its code. */
  write(prefix: string, count: number, length: number): Promise<string>
  delete(sessionId: string): Promise<boolean>
}

declare global {
  interface Window {
    session: SessionPage
    acknowledged(text: string): Promise<void>
    takenOver(sessionId: string): Promise<void>
  }
}

const store = indexedDbSessionStore({ name: 'e2e', onTakenOver: (sessionId) => void window.takenOver(sessionId) })
let writer: Awaited<ReturnType<SessionStore['open']>> | undefined

/** Text that does not get smaller when it is compressed. */
function noise(length: number): string {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return Array.from(bytes, (byte) => String.fromCharCode(256 + byte)).join('')
}

async function texts(): Promise<string[]> {
  const { records } = await store.tail('s')
  return records.map(({ entry }) => (entry.type === 'input' ? entry.message.id : `(${entry.type})`))
}

window.session = {
  openIds: () => store.openIds(),
  async open() {
    writer = await store.open('s', { agentId: 'agent' })
    return { texts: writer.records.length === 0 ? [] : await texts(), damage: writer.damage?.reason }
  },
  texts,
  async write(prefix, count, length) {
    try {
      for (let index = 0; index < count; index++) {
        const id = `${prefix}.${index}`
        const message = { role: 'user' as const, id, content: [{ type: 'text' as const, text: noise(length) }], timestamp: 1 }
        await writer?.append([{ loopId: 'loop', turnIndex: 0, entry: { type: 'input', message } }])
        // Not awaited: the page crashes anywhere, not only between two records.
        void window.acknowledged(id)
      }
      return 'written'
    } catch (error) {
      return String(Reflect.get(Object(error), 'code'))
    }
  },
  delete: (sessionId) => store.delete(sessionId),
}
