import { bytesOfBase64, toBase64 } from '../../base/base64.ts'
import { isBytesOf } from '../../base/hash.ts'
import { mediaIn, withData } from '../../base/json/media-blocks.ts'
import { isHash, maxInlineBytes, mediaBytes, type StoredBytes } from '../../contract/message/media.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { RemoteError } from '../remote-error.ts'

/** Reads bytes that the session keeps under a name. Rejects with `RemoteError`. */
type ReadBytes = (blob: StoredBytes) => Promise<Uint8Array>

/** Characters of base64 that are remembered by their name: a picture stands in a delta, in the end of its answer and in that of its turn. */
const maxKept = 32 * 1024 * 1024

/** Names that are asked for in one event, and characters of base64 that they may come to. No run comes near it; a server that does would fill the memory of its client. */
const mostOfEvent = { names: 1000, chars: 256 * 1024 * 1024 }

/** Codes of a server that has nothing under a name. */
const goneCodes = new Set<string>(['notFound', 'gone'])

/**
 * The bytes of media that a server has named in events.
 *
 * **Contract**
 * - What is named is asked for once, as long as not too much else came after it; what this side has sent is not asked for.
 * - What the server has no more stays named, and `onGone` learns why; so does what an event names beyond a thousand, or beyond 256 MB. Rejects where it could
 *   not be asked.
 */
export class NamedMedia {
  readonly #read: ReadBytes
  readonly #onGone: (error: RemoteError) => void
  /** Base64 by hash, the newest last. */
  readonly #known = new Map<string, string>()
  #kept = 0
  /** Base64 that was sent, and whose hash nobody has asked for. */
  #sent: readonly string[] = []
  /** Of the same object comes the same one. */
  readonly #copies = new WeakMap<object, object>()

  constructor(read: ReadBytes, onGone: (error: RemoteError) => void) {
    this.#read = read
    this.#onGone = onGone
  }

  /** These messages are sent next. */
  send(messages: readonly AgentMessage[]): void {
    this.#sent = mediaIn(messages).flatMap(({ data }) => data ?? [])
  }

  /** Whether an event names bytes. */
  isNamedIn(event: AgentEvent): boolean {
    return namesIn(event).length > 0
  }

  /** `event` with the bytes of what it names. */
  async inEvent(event: AgentEvent): Promise<AgentEvent> {
    const names = namesIn(event)
    const found = new Map<string, string>()
    let [looked, chars] = [0, 0]
    for (const name of names) {
      if (found.has(name.hash)) continue
      if (looked++ >= mostOfEvent.names || chars >= mostOfEvent.chars) {
        this.#onGone(new RemoteError('unexpectedAnswer', 'An event names more media than a client takes: the rest stay named.'))
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
      this.#onGone(new RemoteError('unexpectedAnswer', 'An event names bytes that no session keeps: no hash, or too many of them.'))
      return undefined
    }
    try {
      return toBase64(await this.#read(name))
    } catch (error) {
      if (!RemoteError.isInstance(error) || !goneCodes.has(error.code)) throw error
      this.#onGone(error)
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

/** Whether a server could mean it: what is named is made room for. */
function isName({ hash, bytes }: StoredBytes): boolean {
  return isHash(hash) && Number.isInteger(bytes) && bytes >= 0 && bytes <= maxInlineBytes
}

function namesIn(event: AgentEvent): StoredBytes[] {
  if (event.type === 'messageUpdate' && event.delta.type !== 'block') return none
  return mediaIn(event).flatMap(({ blob }) => blob ?? none)
}

const none: StoredBytes[] = []
