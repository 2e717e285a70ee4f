import type { JsonObject } from '../../contract/json.ts'

/** Marks a generated id of a message from the Rust crate, which has none. */
const mark = '#'

/**
 * Creates ids for the messages of a loop from the Rust crate. They depend only on the position in the history, so every reading gives the
 * same ids. Copies of a message elsewhere in the loop get the same id.
 *
 * **Contract**: existing ids stay. `isMadeUp` tells which ones are not written.
 */
export class MessageIds {
  readonly #loopId: string
  readonly #known = new Map<string, string>()
  #others = 0

  /** `messages` is the loop's history, not validated. */
  constructor(loopId: string, messages: unknown) {
    this.#loopId = loopId
    if (!Array.isArray(messages)) return
    messages.forEach((message: unknown, at) => {
      const content = contentOf(message)
      if (content !== undefined && !this.#known.has(content)) this.#known.set(content, idOf(message) ?? `${loopId}${mark}${at}`)
    })
  }

  /** Returns the history with an id for every message. */
  history(messages: unknown): unknown {
    if (!Array.isArray(messages)) return messages
    return messages.map((message: unknown, at) => withId(message, `${this.#loopId}${mark}${at}`))
  }

  /** Adds ids to messages elsewhere in the loop: that of the message with the same content, otherwise a new one. */
  anywhere(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((message: unknown) => this.anywhere(message))
    const content = contentOf(value)
    return content === undefined ? value : withId(value, this.#known.get(content) ?? this.#another(content))
  }

  #another(content: string): string {
    this.#others += 1
    const id = `${this.#loopId}${mark}x${this.#others}`
    this.#known.set(content, id)
    return id
  }
}

/** Returns the message as JSON without a generated id. */
export function withoutMadeUpId(message: JsonObject, loopId: string): JsonObject {
  const { id, ...rest } = message
  return typeof id === 'string' && id.startsWith(`${loopId}${mark}`) ? rest : message
}

function withId(message: unknown, id: string): unknown {
  return typeof message !== 'object' || message === null || idOf(message) !== undefined ? message : { ...message, id }
}

function idOf(message: unknown): string | undefined {
  const id: unknown = typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** Returns the content of a message without fields that only some copies have, or `undefined` if it is not a message. */
function contentOf(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null || !('role' in message)) return undefined
  const { id: _, turnId: __, ...content }: Record<string, unknown> = { ...message }
  return JSON.stringify(sorted(content))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  )
}
