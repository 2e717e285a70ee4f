import { isObject } from '../json.ts'

/** How deep JSON may be nested, lists and objects together: every engine parses, copies and writes this without running out of stack. */
export const maxJsonDepth = 200

/** How deep a document may be nested: some levels of its own, and JSON of 200 in some of its places. */
export const maxDocumentDepth = maxJsonDepth + 20

/**
 * What of `value` JSON cannot hold, with its path, such as `data.at[3] is a function`; `undefined` where all of it survives. Fields that are
 * `undefined` count as absent. Dates, maps and other objects of a class are none: they would come back as something else.
 *
 * The cost is one walk, also where a part stands in many places.
 */
export function jsonFault(value: unknown, path: string, levels = maxJsonDepth): string | undefined {
  if (isFlat(value)) return undefined
  return faultOf(value, path, { depth: 1, levels, above: new Set(), known: new Map() })
}

/** Whether `value` is an object of texts, finite numbers and flags alone, as most arguments are: then there is no path and no circle to remember. */
function isFlat(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  for (const part of Object.values(value)) {
    const isScalar = typeof part === 'string' || typeof part === 'boolean' || part === null || Number.isFinite(part)
    if (!isScalar) return false
  }
  return true
}

interface Walk {
  depth: number
  readonly levels: number
  /** What the value is part of. */
  above: Set<object>
  /** At which depth a part was found to be sound. */
  known: Map<object, number>
}

function faultOf(value: unknown, path: string, walk: Walk): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} is ${value}, which JSON cannot hold`
  if (typeof value !== 'object') return `${path} is ${kindOf(value)}, which JSON cannot hold`
  const { depth, above, known } = walk
  if ((known.get(value) ?? 0) >= depth) return undefined
  if (above.has(value)) return `${path} is part of itself, which JSON cannot hold`
  if (depth > walk.levels) return `${path.slice(0, 60)}… is nested deeper than ${walk.levels} levels`
  if (!Array.isArray(value) && !isPlain(value)) return `${path} is ${classOf(value)}, which JSON cannot hold`
  above.add(value)
  walk.depth += 1
  const fault = Array.isArray(value) ? faultInList(value, path, walk) : faultInObject(value, path, walk)
  walk.depth -= 1
  above.delete(value)
  if (fault === undefined) known.set(value, depth)
  return fault
}

function faultInList(list: readonly unknown[], path: string, walk: Walk): string | undefined {
  // By index: a list may have holes, which JSON has not.
  for (let at = 0; at < list.length; at += 1) {
    const fault = faultOf(list[at], `${path}[${at}]`, walk)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultInObject(object: object, path: string, walk: Walk): string | undefined {
  for (const [key, part] of Object.entries(object)) {
    const fault = part === undefined ? undefined : faultOf(part, `${path}.${key}`, walk)
    if (fault !== undefined) return fault
  }
  return undefined
}

function classOf(value: object): string {
  const kind = kindOf(value)
  return kind === 'an object' ? 'an object of a class' : kind
}

/** An object literal, also one of another realm. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** An object literal that is no list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && isPlain(value)
}

/** What `value` is, in words, without what it holds. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value !== 'object') return typeof value === 'string' ? 'a text' : `a ${typeof value}`
  const name = Object.prototype.toString.call(value).slice(8, -1)
  return name === 'Object' ? 'an object' : `of type ${name}`
}

/** Names of what must not be shown. Counts of tokens are none. */
const secretName: RegExp = /key|bearer|token(?!s)|secret|auth|password|credential|header/i

/** Whether `name` says that its value is a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** A text without what addresses in it say behind `?`, and without a name and a password before the host: keys stand in each. */
function withoutKeys(text: string): string {
  return text.replace(/:\/\/[^/@\s]*@/g, '://…@').replace(/(:\/\/[^\s?#]*)[?#]\S*/g, '$1?…')
}

/** `value` as a message shows it, cut, and without what its name says is a secret. */
export function shown(value: unknown, name: string): string {
  if (value instanceof Promise) return 'a promise (await it first)'
  if (typeof value === 'string') return isSecretName(name) ? 'a text' : JSON.stringify(withoutKeys(value.slice(0, 1000)).slice(0, 60))
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : kindOf(value)
}
