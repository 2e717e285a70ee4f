import { isMedia } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'

/** The messages of a prefix as given; compared by identity. */
export interface Beginning {
  readonly messages: Message[]
}

/**
 * Caches what was computed for prefixes of conversations, so that a turn costs only its new messages.
 *
 * **Contract**
 * - A prefix matches a history only if all of its messages are there, unchanged (by identity) and in the same positions.
 * - It is cached with its last message, and released with it. The cache keeps no conversation alive.
 */
export class Beginnings<Known extends Beginning> {
  readonly #byLast = new WeakMap<Message, Known>()

  /** Removes and returns the longest prefix of `messages` with at most `end` messages that `fits`. It is used once, because it grows. */
  take(messages: readonly Message[], end: number, fits?: (known: Known) => boolean): Known | undefined {
    for (let at = end; at > 0; at--) {
      const last = messages[at - 1]
      const found = last && this.#byLast.get(last)
      if (last === undefined || found === undefined || !isSame(found.messages, messages, at) || fits?.(found) === false) continue
      this.#byLast.delete(last)
      return found
    }
    return undefined
  }

  keep(known: Known): void {
    const last = known.messages.at(-1)
    if (last !== undefined) this.#byLast.set(last, known)
  }
}

/** A prefix, and which of its messages have media. */
interface Looked extends Beginning {
  places: number[]
}

const looked = new Beginnings<Looked>()

/** Returns which messages have media. Each message is inspected once, not per request. */
export function placesOfMedia(messages: readonly Message[]): readonly number[] {
  const known = looked.take(messages, messages.length) ?? { messages: [], places: [] }
  for (const message of messages.slice(known.messages.length)) {
    if (message.content.some(isMedia)) known.places.push(known.messages.length)
    known.messages.push(message)
  }
  looked.keep(known)
  return known.places
}

/** Returns whether both lists start with the same `length` items, and `left` has no more. */
export function isSame(left: readonly unknown[], right: readonly unknown[], length: number): boolean {
  if (left.length !== length) return false
  for (let at = 0; at < length; at++) if (left[at] !== right[at]) return false
  return true
}
