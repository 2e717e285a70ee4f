import { isObject } from '../../../contract/json.ts'
import { kindOf } from '../../../contract/shape/json-fault.ts'

/**
 * Thrown for a value that the protocol does not allow, so that a decoder never drops unreadable content silently. `sendStreaming` adds the
 * provider's name.
 */
export class OddValue extends Error {
  constructor(place: string, value: unknown) {
    super(value === undefined ? `nothing as ${place}` : `${kindOf(value)} as ${place}`)
  }
}

/**
 * Returns a text field, or an empty string if it is absent. Accepts a text part or a list of text parts. Throws `OddValue` for other
 * values.
 */
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

/** Returns an object field, or `undefined` if absent. Throws `OddValue` for other values. The object's fields are validated on use. */
export function objectIn<Fields extends object>(value: Fields | null | undefined, place: string): Fields | undefined {
  const fields = fieldsIn(value, place)
  return fields === undefined || isEmpty(fields) ? undefined : fields
}

/** A faster {@link objectIn} for every delta. Treats values that are not objects as empty objects. */
export function fieldsIn<Fields extends object>(value: Fields | null | undefined, place: string): Fields | undefined {
  if (isObject(value)) return value
  if (isNothing(value)) return undefined
  throw new OddValue(place, value)
}

/** Returns an unknown value as an object whose fields are validated on use. */
export function objectOf<Fields extends object>(value: unknown): Fields {
  return (typeof value === 'object' && value !== null ? value : {}) as Fields
}

/**
 * Returns the objects in a list field, without empty entries. Returns an empty list if the field is absent. Throws `OddValue` for other
 * values.
 */
export function objectsIn<Fields extends object>(value: readonly (Fields | null)[] | null | undefined, place: string): readonly Fields[] {
  if (isNothing(value)) return []
  if (!Array.isArray(value)) throw new OddValue(`the list of ${place}`, value)
  const list: readonly (Fields | null)[] = value
  // Copy the list only if an entry must be dropped, which is rare.
  return list.every(isFields) ? list : list.flatMap((entry) => objectIn(entry, place) ?? [])
}

/** Returns an index or a count, or `undefined` for an invalid one. */
export function indexIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < maxIndex ? value : undefined
}

const maxIndex = 2 ** 20

/** Returns an enumeration value of the protocol, or `undefined` if absent. Throws `OddValue` for other values. */
export function wordIn(value: unknown, place: string): string | undefined {
  if (typeof value === 'string') return value
  if (isNothing(value)) return undefined
  throw new OddValue(place, value)
}

/** Returns a name or id, which may be a number, or `undefined` if absent. Throws `OddValue` for other values. */
export function nameIn(value: unknown, place: string): string | undefined {
  return typeof value === 'number' ? String(value) : wordIn(value, place)
}

function isFields<Fields extends object>(value: Fields | null): value is Fields {
  return isObject(value)
}

/** Returns whether a value is empty. Providers fill unused fields with their language's empty value. */
function isNothing(value: unknown): boolean {
  return !value || (typeof value === 'object' && isEmpty(value))
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}
