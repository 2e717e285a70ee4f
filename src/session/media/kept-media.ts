import { checkStore } from '../../base/argument-checks.ts'
import { toBase64 } from '../../base/base64.ts'
import { isBytesOf } from '../../base/hash.ts'
import { mediaIn, withData } from '../../base/json/media-blocks.ts'
import { SessionError } from '../../contract/errors.ts'
import { isHash } from '../../contract/message/media.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { LogDriver, SessionStore } from '../../types/session/session-store.ts'

/** The hashes of all bytes that `value`, such as the records of a session, names. */
export function hashesIn(value: unknown): Set<string> {
  return new Set(mediaIn(value).flatMap(({ blob }) => (blob === undefined ? [] : [blob.hash])))
}

/** What a session keeps under `hash`, verified. Rejects as `SessionStore.blob`. */
export async function readBlob(driver: LogDriver, sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = isHash(hash) ? await driver.blobs?.get(sessionId, hash) : undefined
  if (bytes === undefined) {
    const later = driver.promises.readAfterWrite === 'eventual' ? ' What was just written may show in a minute: try again.' : ''
    const shown = JSON.stringify(hash.slice(0, 64))
    throw new SessionError('notFound', `Session ${sessionId} keeps no bytes under ${shown}.${later}`)
  }
  if (await isBytesOf(hash, bytes)) return bytes
  throw new SessionError(
    'invalidSession',
    `The file that session ${sessionId} keeps under ${hash} is damaged: its SHA-256 is another. Send the file again.`,
  )
}

/** Whether bytes are gone or damaged, and asking again does not help. */
export function isLost(error: unknown): boolean {
  return SessionError.isInstance(error) && (error.code === 'notFound' || error.code === 'invalidSession')
}

/**
 * Messages of a session with the bytes of their media, where they have a `blob` instead: those of a resumed agent, for a page or another agent.
 *
 * **Contract**
 * - A message without such media is the same object. What is lost or damaged stays a `blob`.
 * - Rejects with `SessionError` where the store cannot be read now.
 *
 * Source: docs/concepts/sessions.md
 */
export async function messagesWithBytes(
  store: Pick<SessionStore, 'blob'>,
  sessionId: string,
  messages: readonly AgentMessage[],
): Promise<readonly AgentMessage[]> {
  checkStore(store, 'blob')
  return withBytes((hash) => store.blob(sessionId, hash), messages)
}

/** `value`, which was made of the records of a session, with the bytes that it names in place of their names. What cannot be read stays a name. */
export async function withBytes<Value>(read: (hash: string) => Promise<Uint8Array>, value: Value): Promise<Value> {
  const found = new Map<string, string>()
  for (const hash of hashesIn(value)) {
    try {
      found.set(hash, toBase64(await read(hash)))
    } catch (error) {
      if (!isLost(error)) throw error
    }
  }
  return withData(value, found)
}
