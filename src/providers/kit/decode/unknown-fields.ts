import { ownFieldIn, setOwnField } from '../../../contract/json.ts'
import type { AssistantBuilder } from './assistant-builder.ts'

/** Characters of the name of what is left out. */
const maxName = 60
/** How many of them are named in one answer. */
const maxNames = 100

/**
 * Says what a decoder leaves out: fields beside those it reads, and events of kinds it does not know. Each name is said once per answer.
 *
 * **Contract**
 * - A field says something if it holds text, a list or an object that is not empty. Counts, flags and nothing are no content beside others; in an event
 *   of an unknown kind a count is.
 * - What is known is named by the decoder, also what it passes over on purpose.
 */
export class UnknownFields {
  readonly #builder: AssistantBuilder
  #told: Set<string> | undefined

  constructor(builder: AssistantBuilder) {
    this.#builder = builder
  }

  /** Looks for what is beside the fields `known`. It runs for every delta. */
  look(fields: object, known: ReadonlySet<string>): void {
    for (const name in fields) if (!known.has(name)) this.#field(name, Reflect.get(fields, name))
  }

  /** Looks whether an event of an unknown kind says more than the fields `known`. */
  event(type: string, fields: object, known: ReadonlySet<string>): void {
    for (const name in fields) {
      const value: unknown = Reflect.get(fields, name)
      if (known.has(name) || !(typeof value === 'number' || saysSomething(value)) || !this.#isNew(type)) continue
      const kind = type.slice(0, maxName)
      this.#builder.warn(`The service sent content in events of the kind "${kind}", which this version does not know. It is left out.`)
    }
  }

  #field(name: string, value: unknown): void {
    if (!saysSomething(value) || !this.#isNew(name)) return
    this.#builder.warn(`The service sent "${name.slice(0, maxName)}" in its answer, which this version does not know. It is left out.`)
  }

  /** A service cannot make the list of names grow without end: the last warning says so. */
  #isNew(name: string): boolean {
    this.#told ??= new Set()
    if (this.#told.has(name) || this.#told.size > maxNames) return false
    this.#told.add(name)
    if (this.#told.size <= maxNames) return true
    this.#builder.warn('The service sent more kinds of content that this version does not know. They are left out.')
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
 * Adds to a block that a codec does not know, as it was parsed, what one of its deltas says, whose fields are named as those of the block: texts and lists go on,
 * all else is replaced.
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
