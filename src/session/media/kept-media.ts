import { checkStore } from '../../base/argument-checks.ts'
import { toBase64 } from '../../base/base64.ts'
import { isBytesOf } from '../../base/hash.ts'
import { mediaIn, withData } from '../../base/json/media-blocks.ts'
import { SessionError } from '../../contract/errors.ts'
import { isHash } from '../../contract/message/media.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { LogDriver, SessionStore } from '../../types/session/session-store.ts'

/** Returns the hashes of all blobs that `value` refers to. */
export function hashesIn(value: unknown): Set<string> {
  return new Set(mediaIn(value).flatMap(({ blob }) => (blob === undefined ? [] : [blob.hash])))
}

/** Reads and verifies a blob of a session. Rejects like `SessionStore.blob`. */
export async function readBlob(driver: LogDriver, sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = isHash(hash) ? await driver.blobs?.get(sessionId, hash) : undefined
  if (bytes === undefined) {
    const later = driver.promises.readAfterWrite === 'eventual' ? ' A recent write can take a minute to appear. Retry then.' : ''
    const shown = JSON.stringify(hash.slice(0, 64))
    throw new SessionError('notFound', `Session ${sessionId} has no blob ${shown}.${later}`)
  }
  if (await isBytesOf(hash, bytes)) return bytes
  throw new SessionError(
    'invalidSession',
    `Blob ${hash} of session ${sessionId} is damaged: its SHA-256 does not match. Send the file again.`,
  )
}

/** Returns whether a blob is missing or damaged, so that retrying cannot succeed. */
export function isLost(error: unknown): boolean {
  return SessionError.isInstance(error) && (error.code === 'notFound' || error.code === 'invalidSession')
}

/**
 * Returns a session's messages with media bytes instead of `blob` references, for a client or another agent.
 *
 * **Contract**
 * - Returns messages without such media unchanged. Missing or damaged blobs remain references.
 * - Rejects with `SessionError` if the store is unavailable.
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

/** Returns `value` with bytes instead of blob references. A blob that cannot be read stays a reference. */
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
