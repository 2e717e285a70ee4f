import { isObject } from '../../../contract/json.ts'
import { kindOf } from '../../../contract/shape/json-fault.ts'

/**
 * Thrown for a value that the protocol does not have in that place: a piece of the answer that cannot be read is an error, not left out.
 * `sendStreaming` says which service sent it.
 */
export class OddValue extends Error {
  constructor(place: string, value: unknown) {
    super(value === undefined ? `nothing as ${place}` : `${kindOf(value)} as ${place}`)
  }
}

/** The text of a field. Nothing is an empty one; a part with a text, or a list of such, is its text. Throws `OddValue` for anything else. */
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

/** The object of a field; `undefined` for nothing. Throws `OddValue` for anything else. Each of its fields is looked at before use. */
export function objectIn<Fields extends object>(value: Fields | null | undefined, place: string): Fields | undefined {
  const fields = fieldsIn(value, place)
  return fields === undefined || isEmpty(fields) ? undefined : fields
}

/**
 * As {@link objectIn}, for what comes with every delta and is nothing when its fields are: an empty object is not told from others, which takes
 * longer than to read one.
 */
export function fieldsIn<Fields extends object>(value: Fields | null | undefined, place: string): Fields | undefined {
  if (isObject(value)) return value
  if (isNothing(value)) return undefined
  throw new OddValue(place, value)
}

/** An unknown value as an object to read fields from, each of which is checked before use. */
export function objectOf<Fields extends object>(value: unknown): Fields {
  return (typeof value === 'object' && value !== null ? value : {}) as Fields
}

/** The objects of a field that holds a list of them; empty for nothing, without what is nothing. Throws `OddValue` for anything else. */
export function objectsIn<Fields extends object>(value: readonly (Fields | null)[] | null | undefined, place: string): readonly Fields[] {
  if (isNothing(value)) return []
  if (!Array.isArray(value)) throw new OddValue(`the list of ${place}`, value)
  const list: readonly (Fields | null)[] = value
  // Mostly nothing is to be left out.
  return list.every(isFields) ? list : list.flatMap((entry) => objectIn(entry, place) ?? [])
}

/** An index, or a count of what came before; `undefined` for what cannot be one. */
export function indexIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < maxIndex ? value : undefined
}

const maxIndex = 2 ** 20

/** A word of the protocol; `undefined` for nothing. Throws `OddValue` for anything else. */
export function wordIn(value: unknown, place: string): string | undefined {
  if (typeof value === 'string') return value
  if (isNothing(value)) return undefined
  throw new OddValue(place, value)
}

/** A name or an id, which may be a number; `undefined` for nothing. Throws `OddValue` for anything else. */
export function nameIn(value: unknown, place: string): string | undefined {
  return typeof value === 'number' ? String(value) : wordIn(value, place)
}

function isFields<Fields extends object>(value: Fields | null): value is Fields {
  return isObject(value)
}

/** Services fill fields that they do not use with whatever their language calls empty. */
function isNothing(value: unknown): boolean {
  return !value || (typeof value === 'object' && isEmpty(value))
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}
