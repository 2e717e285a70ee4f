import type { JsonObject } from '../../contract/json.ts'

/** Marks an id that was made up for a message of the Rust crate, which has none. */
const mark = '#'

/**
 * Ids for the messages of one loop of the Rust crate: they depend on the place in its history alone, so that every reading gives the same, and
 * the same message has one id wherever else the loop holds it.
 *
 * **Contract**: messages that have an id keep it. `isMadeUp` tells which are not to be written.
 */
export class MessageIds {
  readonly #loopId: string
  readonly #known = new Map<string, string>()
  #others = 0

  /** `messages` is the history of the loop, unchecked. */
  constructor(loopId: string, messages: unknown) {
    this.#loopId = loopId
    if (!Array.isArray(messages)) return
    messages.forEach((message: unknown, at) => {
      const content = contentOf(message)
      if (content !== undefined && !this.#known.has(content)) this.#known.set(content, idOf(message) ?? `${loopId}${mark}${at}`)
    })
  }

  /** The history, with an id for every message. */
  history(messages: unknown): unknown {
    if (!Array.isArray(messages)) return messages
    return messages.map((message: unknown, at) => withId(message, `${this.#loopId}${mark}${at}`))
  }

  /** A message, or several, from elsewhere in the loop: of the same content as one of the history, or else with an id of their own. */
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

/** The message as JSON without an id that only reading has made up. */
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

/** What a message says, without what only some of its copies have; `undefined` where there is no message. */
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
