import { isMedia } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'

/** The original messages of a prefix, compared by identity. */
export interface Beginning {
  readonly messages: Message[]
}

/**
 * Caches results for conversation prefixes, so that each turn processes only its new messages.
 *
 * **Contract**
 * - A prefix matches a history only if the history contains all of its messages unchanged (by identity) at the same positions.
 * - Caches a prefix on its last message and releases it with that message. The cache does not retain conversations.
 */
export class Beginnings<Known extends Beginning> {
  readonly #byLast = new WeakMap<Message, Known>()

  /**
   * Removes and returns the longest cached prefix of `messages` that `fits` and has at most `end` messages. Removes the entry, because the
   * caller extends it.
   */
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

/** A prefix, and the positions of its messages with media. */
interface Looked extends Beginning {
  places: number[]
}

const looked = new Beginnings<Looked>()

/** Returns the positions of messages with media. Each message is inspected once, not per request. */
export function placesOfMedia(messages: readonly Message[]): readonly number[] {
  const known = looked.take(messages, messages.length) ?? { messages: [], places: [] }
  for (const message of messages.slice(known.messages.length)) {
    if (message.content.some(isMedia)) known.places.push(known.messages.length)
    known.messages.push(message)
  }
  looked.keep(known)
  return known.places
}

/** Returns whether both lists start with the same `length` items and `left` contains no further items. */
export function isSame(left: readonly unknown[], right: readonly unknown[], length: number): boolean {
  if (left.length !== length) return false
  for (let at = 0; at < length; at++) if (left[at] !== right[at]) return false
  return true
}
