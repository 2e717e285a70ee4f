import { bytesOfBase64, toBase64 } from '../../base/base64.ts'
import { isBytesOf } from '../../base/hash.ts'
import { mediaIn, withData } from '../../base/json/media-blocks.ts'
import { isHash, maxInlineBytes, mediaBytes, type StoredBytes } from '../../contract/message/media.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { RemoteError } from '../remote-error.ts'

/** Reads a blob that the session stores. Rejects with `RemoteError`. */
type ReadBytes = (blob: StoredBytes) => Promise<Uint8Array>

/** Maximum base64 characters to cache, because the same image appears in a delta, in `messageEnd` and in `turnEnd`. */
const maxKept = 32 * 1024 * 1024

/** Maximum media references per event, and maximum total base64 characters. Prevents a hostile server from exhausting memory. */
const mostOfEvent = { names: 1000, chars: 256 * 1024 * 1024 }

/** Error codes for missing media. */
const missingCodes = new Set<string>(['notFound', 'gone'])

/**
 * Resolves media that a server references in events.
 *
 * **Contract**
 * - Each reference is requested once while it stays in the cache. Media that this client sent are not requested.
 * - References without data, over a thousand per event, or beyond 256 MB stay unresolved, and `onMissing` gets the reason. Rejects if a
 *   request fails.
 */
export class NamedMedia {
  readonly #read: ReadBytes
  readonly #onMissing: (error: RemoteError) => void
  /** Base64 by hash, newest last. */
  readonly #known = new Map<string, string>()
  #kept = 0
  /** Sent media as base64 whose hash has not been computed yet. */
  #sent: readonly string[] = []
  /** Cached copies by object. */
  readonly #copies = new WeakMap<object, object>()

  constructor(read: ReadBytes, onMissing: (error: RemoteError) => void) {
    this.#read = read
    this.#onMissing = onMissing
  }

  /** Records messages that are about to be sent. */
  send(messages: readonly AgentMessage[]): void {
    this.#sent = mediaIn(messages).flatMap(({ data }) => data ?? [])
  }

  /** Returns whether an event references media. */
  isNamedIn(event: AgentEvent): boolean {
    return namesIn(event).length > 0
  }

  /** Returns `event` with the bytes of its media. */
  async inEvent(event: AgentEvent): Promise<AgentEvent> {
    const names = namesIn(event)
    const found = new Map<string, string>()
    let [looked, chars] = [0, 0]
    for (const name of names) {
      if (found.has(name.hash)) continue
      if (looked++ >= mostOfEvent.names || chars >= mostOfEvent.chars) {
        this.#onMissing(
          new RemoteError('unexpectedAnswer', 'An event references more media than a client loads. The rest remain references.'),
        )
        break
      }
      const data = this.#known.get(name.hash) ?? (await this.#ownOf(name)) ?? (await this.#readOf(name))
      if (data === undefined) continue
      found.set(name.hash, data)
      chars += data.length
      this.#keep(name.hash, data)
    }
    const isWhole = names.every(({ hash }) => found.has(hash))
    return withData(event, found, isWhole ? this.#copies : undefined)
  }

  async #ownOf({ hash, bytes }: StoredBytes): Promise<string | undefined> {
    for (const data of this.#sent) {
      if (mediaBytes({ data }) === bytes && (await isBytesOf(hash, bytesOfBase64(data)))) return data
    }
    return undefined
  }

  async #readOf(name: StoredBytes): Promise<string | undefined> {
    if (!isName(name)) {
      this.#onMissing(
        new RemoteError('unexpectedAnswer', 'An event has an invalid media reference: its hash is malformed or its size is too large.'),
      )
      return undefined
    }
    try {
      return toBase64(await this.#read(name))
    } catch (error) {
      if (!RemoteError.isInstance(error) || !missingCodes.has(error.code)) throw error
      this.#onMissing(error)
      return undefined
    }
  }

  #keep(hash: string, data: string): void {
    if (this.#known.has(hash)) return
    this.#known.set(hash, data)
    this.#kept += data.length
    for (const [oldest, { length }] of this.#known) {
      if (this.#kept <= maxKept || oldest === hash) return
      this.#known.delete(oldest)
      this.#kept -= length
    }
  }
}

/** Returns whether a reference is valid. The client reserves memory for the stated size, so the size is checked too. */
function isName({ hash, bytes }: StoredBytes): boolean {
  return isHash(hash) && Number.isInteger(bytes) && bytes >= 0 && bytes <= maxInlineBytes
}

function namesIn(event: AgentEvent): StoredBytes[] {
  if (event.type === 'messageUpdate' && event.delta.type !== 'block') return none
  return mediaIn(event).flatMap(({ blob }) => blob ?? none)
}

const none: StoredBytes[] = []
