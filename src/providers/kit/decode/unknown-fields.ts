import { ownFieldIn, setOwnField } from '../../../contract/json.ts'
import type { AssistantBuilder } from './assistant-builder.ts'

/** Maximum characters of a reported name. */
const maxName = 60
/** Maximum names reported per response. */
const maxNames = 100

/**
 * Warns about data that a decoder drops: unknown fields, and events of unknown types. Reports each name once per response.
 *
 * **Contract**
 * - Reports a field if it contains text, or a non-empty list or object. Reports numbers and flags only in events of unknown types.
 * - The decoder lists known fields, including those that it ignores intentionally.
 */
export class UnknownFields {
  readonly #builder: AssistantBuilder
  #reported: Set<string> | undefined

  constructor(builder: AssistantBuilder) {
    this.#builder = builder
  }

  /** Reports fields other than `known`. Runs for every delta. */
  look(fields: object, known: ReadonlySet<string>): void {
    for (const name in fields) if (!known.has(name)) this.#field(name, Reflect.get(fields, name))
  }

  /** Reports fields of an unknown event other than `known`. */
  event(type: string, fields: object, known: ReadonlySet<string>): void {
    for (const name in fields) {
      const value: unknown = Reflect.get(fields, name)
      if (known.has(name) || !(typeof value === 'number' || saysSomething(value)) || !this.#isNew(type)) continue
      const kind = type.slice(0, maxName)
      this.#builder.warn(`The provider sent content in events of the unknown type "${kind}". The content was dropped.`)
    }
  }

  #field(name: string, value: unknown): void {
    if (!saysSomething(value) || !this.#isNew(name)) return
    this.#builder.warn(`The provider sent the unknown field "${name.slice(0, maxName)}" in its response. The field was dropped.`)
  }

  /** Returns whether to report a name. Limits the number of names; the last warning mentions the limit. */
  #isNew(name: string): boolean {
    this.#reported ??= new Set()
    if (this.#reported.has(name) || this.#reported.size > maxNames) return false
    this.#reported.add(name)
    if (this.#reported.size <= maxNames) return true
    this.#builder.warn('The provider sent more content of unknown types. The content was dropped.')
    return false
  }
}

function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== ''
  if (typeof value !== 'object' || value === null) return false
  for (const _ in value) return true
  return false
}

/**
 * Applies a delta to an unknown block if their field names match: appends strings and lists, and replaces other values.
 */
export function growBlock(block: object, delta: object): void {
  for (const [name, more] of Object.entries(delta)) {
    if (name === 'type') continue
    const known = ownFieldIn(block, name)
    if (Array.isArray(known) && Array.isArray(more)) for (const each of more) known.push(each)
    else {
      setOwnField(block, name, typeof known === 'string' && typeof more === 'string' ? known + more : more)
    }
  }
}
