import { isObject } from '../json.ts'

/** Maximum nesting depth of JSON. Every engine parses, copies and serializes this depth without a stack overflow. */
export const maxJsonDepth = 200

/** Maximum nesting depth of a document: JSON of 200 levels plus a few enclosing levels. */
export const maxDocumentDepth = maxJsonDepth + 20

/**
 * Returns why `value` cannot be JSON, with its path, such as `data.at[3] is a function`, or `undefined` if it can. Properties that are
 * `undefined` count as absent. Class instances such as dates and maps are rejected, because they would not survive.
 *
 * Visits each part once, even if parts are shared.
 */
export function jsonFault(value: unknown, path: string, levels = maxJsonDepth): string | undefined {
  if (isFlat(value)) return undefined
  return faultOf(value, path, { depth: 1, levels, above: new Set(), known: new Map() })
}

/**
 * Returns whether `value` is an object of strings, finite numbers and booleans, as most arguments are. Such values need no path and no
 * cycle check.
 */
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
  /** The value's ancestors. */
  above: Set<object>
  /** Depth at which a shared part was found valid. */
  known: Map<object, number>
}

function faultOf(value: unknown, path: string, walk: Walk): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} is ${value}, which JSON cannot represent`
  if (typeof value !== 'object') return `${path} is ${kindOf(value)}, which JSON cannot represent`
  const { depth, above, known } = walk
  if ((known.get(value) ?? 0) >= depth) return undefined
  if (above.has(value)) return `${path} contains itself, which JSON cannot represent`
  if (depth > walk.levels) return `${path.slice(0, 60)}… is nested deeper than ${walk.levels} levels`
  if (!Array.isArray(value) && !isPlain(value)) return `${path} is ${classOf(value)}, which JSON cannot represent`
  above.add(value)
  walk.depth += 1
  const fault = Array.isArray(value) ? faultInList(value, path, walk) : faultInObject(value, path, walk)
  walk.depth -= 1
  above.delete(value)
  if (fault === undefined) known.set(value, depth)
  return fault
}

function faultInList(list: readonly unknown[], path: string, walk: Walk): string | undefined {
  // Iterate by index to find holes, which JSON does not support.
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

/** Returns whether `value` is a plain object or array, including from another realm. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Returns whether `value` is a plain object, not an array. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && isPlain(value)
}

/** Describes the type of `value` without its content. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value !== 'object') return typeof value === 'string' ? 'a text' : `a ${typeof value}`
  const name = Object.prototype.toString.call(value).slice(8, -1)
  return name === 'Object' ? 'an object' : `of type ${name}`
}

/** Matches names of secrets, but not token counts. */
const secretName: RegExp = /key|bearer|token(?!s)|secret|auth|password|credential|header/i

/** Returns whether `name` is the name of a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** Removes query strings and credentials from URLs in a text, because they may contain keys. */
function withoutKeys(text: string): string {
  return text.replace(/:\/\/[^/@\s]*@/g, '://…@').replace(/(:\/\/[^\s?#]*)[?#]\S*/g, '$1?…')
}

/** Formats `value` for a message: truncated, with secrets redacted by name. */
export function shown(value: unknown, name: string): string {
  if (value instanceof Promise) return 'a promise (await it first)'
  if (typeof value === 'string') return isSecretName(name) ? 'a text' : JSON.stringify(withoutKeys(value.slice(0, 1000)).slice(0, 60))
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : kindOf(value)
}
