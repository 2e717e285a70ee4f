import { isObject } from '../../../contract/json.ts'
import { kindOf } from '../../../contract/shape/json-fault.ts'

/**
 * Thrown for a value that the protocol does not allow there: unreadable content is an error and is never dropped.
 * `sendStreaming` names the provider.
 */
export class OddValue extends Error {
  constructor(place: string, value: unknown) {
    super(value === undefined ? `nothing as ${place}` : `${kindOf(value)} as ${place}`)
  }
}

/** Returns a text field; empty for none. A part with a text, or a list of such parts, counts as its text. Throws `OddValue` otherwise. */
export function textIn(value: unknown, place: string): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map((part) => partText(part, place)).join('')
  return partText(value, place)
}

function partText(value: unknown, place: string): string {
  if (typeof value === 'string') return value
  if (isNothing(value)) return ''
  if (typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string') return value.text
  throw new OddValue(place, value)
}

/** Returns an object field; `undefined` for none. Throws `OddValue` otherwise. Its fields are checked before use. */
export function objectIn<Fields extends object>(value: Fields | null | undefined, place: string): Fields | undefined {
  const fields = fieldsIn(value, place)
  return fields === undefined || isEmpty(fields) ? undefined : fields
}

/**
 * A faster {@link objectIn} for every delta. Values that are not objects read as objects without fields.
 */
export function fieldsIn<Fields extends object>(value: Fields | null | undefined, place: string): Fields | undefined {
  if (isObject(value)) return value
  if (isNothing(value)) return undefined
  throw new OddValue(place, value)
}

/** Returns an unknown value as an object whose fields are checked before use. */
export function objectOf<Fields extends object>(value: unknown): Fields {
  return (typeof value === 'object' && value !== null ? value : {}) as Fields
}

/** Returns the objects of a list field, without empty entries; empty for none. Throws `OddValue` otherwise. */
export function objectsIn<Fields extends object>(value: readonly (Fields | null)[] | null | undefined, place: string): readonly Fields[] {
  if (isNothing(value)) return []
  if (!Array.isArray(value)) throw new OddValue(`the list of ${place}`, value)
  const list: readonly (Fields | null)[] = value
  // Usually there is nothing to drop.
  return list.every(isFields) ? list : list.flatMap((entry) => objectIn(entry, place) ?? [])
}

/** Returns an index or a count; `undefined` for an invalid one. */
export function indexIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < maxIndex ? value : undefined
}

const maxIndex = 2 ** 20

/** Returns a word of the protocol; `undefined` for none. Throws `OddValue` otherwise. */
export function wordIn(value: unknown, place: string): string | undefined {
  if (typeof value === 'string') return value
  if (isNothing(value)) return undefined
  throw new OddValue(place, value)
}

/** Returns a name or an id, which may be a number; `undefined` for none. Throws `OddValue` otherwise. */
export function nameIn(value: unknown, place: string): string | undefined {
  return typeof value === 'number' ? String(value) : wordIn(value, place)
}

function isFields<Fields extends object>(value: Fields | null): value is Fields {
  return isObject(value)
}

/** Returns whether a value is empty: providers fill unused fields with the empty value of their language. */
function isNothing(value: unknown): boolean {
  return !value || (typeof value === 'object' && isEmpty(value))
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}
