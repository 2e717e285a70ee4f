import { isMedia } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'

/** The messages of a beginning, as they were given: they are compared by identity. */
export interface Beginning {
  readonly messages: Message[]
}

/**
 * What was made of the beginnings of conversations, so that a turn costs what is new in it.
 *
 * **Contract**
 * - A beginning stands for a history only where all of its messages stand there unchanged, by identity, and in their places.
 * - It is remembered with its last message, and forgotten with it. Nothing else keeps a conversation alive.
 */
export class Beginnings<Known extends Beginning> {
  readonly #byLast = new WeakMap<Message, Known>()

  /** Takes out the longest one of at most `end` messages that `messages` begin with, and that `fits`: it goes on, so it may not be used twice. */
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

/** A beginning, and which of its messages have media. */
interface Looked extends Beginning {
  places: number[]
}

const looked = new Beginnings<Looked>()

/** Returns which messages have media. Each is looked at once, not with every request. */
export function placesOfMedia(messages: readonly Message[]): readonly number[] {
  const known = looked.take(messages, messages.length) ?? { messages: [], places: [] }
  for (const message of messages.slice(known.messages.length)) {
    if (message.content.some(isMedia)) known.places.push(known.messages.length)
    known.messages.push(message)
  }
  looked.keep(known)
  return known.places
}

/** Whether both have the same `length` things at their beginning, and `left` no more. */
export function isSame(left: readonly unknown[], right: readonly unknown[], length: number): boolean {
  if (left.length !== length) return false
  for (let at = 0; at < length; at++) if (left[at] !== right[at]) return false
  return true
}
