import { type JsonSchema, ownFieldIn } from '../../contract/json.ts'
import { percentDecoded } from '../text/characters.ts'

/** The value of a JSON text; `undefined` where it is none. For what somebody else wrote, and is checked afterwards. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A copy of plain JSON. Strings, which are all that is large, are shared. Several times faster than `structuredClone`. */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  // By place: the names of places are texts, and a list may be long. Of each part comes one of the same shape.
  if (Array.isArray(value)) return value.map((part: unknown) => copyJson(part)) as T
  const copy: T = { ...value }
  for (const key in copy) copy[key] = copyJson(copy[key])
  return copy
}

/** Whether two values are the same JSON, keys in the same order. */
export function isSameJson<T>(value: T, other: unknown): other is T {
  if (Object.is(value, other)) return true
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null) return false
  const others = Object.entries(other)
  const own = Object.entries(value)
  return own.length === others.length && own.every(([key, part], at) => key === others[at]?.[0] && isSameJson(part, others[at]?.[1]))
}

/** Whether two values are the same JSON, whatever the order of keys. */
export function isEqualJson(value: unknown, other: unknown): boolean {
  if (value === other || Object.is(value, other)) return true
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null) return false
  if (Array.isArray(value) !== Array.isArray(other)) return false
  const own = Object.entries(value)
  if (own.length !== Object.keys(other).length) return false
  return own.every(([key, part]) => Object.hasOwn(other, key) && isEqualJson(part, Reflect.get(other, key)))
}

/** A name as a JSON Pointer (RFC 6901) has it between two slashes. */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The name that stands between two slashes of a JSON Pointer. */
export function nameOfPart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * What a local reference (`#`, `#/$defs/item`) leads to inside `root`, or `undefined`: also for references to other documents and anchors.
 * Looks at own properties only.
 */
export function resolveRef(root: JsonSchema, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  return pointerSegments(ref).reduce<unknown>(ownFieldIn, root)
}

/** The decoded segments of a JSON pointer in its fragment form, `#/a/b`. Malformed percent signs are taken literally. */
export function pointerSegments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => nameOfPart(percentDecoded(segment)))
}
