import { SessionError } from '../../contract/errors.ts'

/** The JSON type of `value`, or `nothing` where there is no value. */
function typeName(value: unknown): string {
  if (value === undefined) return 'nothing'
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/**
 * A `SessionError` `invalidMessages` that says where, what was expected, and the type of what was there. Only a wrong tag is quoted, and
 * only its first 40 characters: other values may be what somebody said.
 */
export function invalidMessages(path: string, expected: string, value: unknown, isTag = false): SessionError {
  const got = isTag && typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeName(value)
  return new SessionError('invalidMessages', `${path}: expected ${expected}, got ${got}`)
}

/**
 * The JSON value of `text`; throws `SessionError` `invalidMessages` without the parser's own words: they quote the text, which may be private.
 * `what` was to be read.
 */
export function readJson(text: string, what = 'messages'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SessionError(
      'invalidMessages',
      `${what}: not valid JSON (${typeof text === 'string' ? `${text.length} characters` : typeName(text)})`,
    )
  }
}

/** Throws `SessionError` `invalidMessages` when `value` does not fit; `path` says where it was found. */
export type Check = (value: unknown, path: string) => void

/** Checks by field name. A name that ends in `?` is optional: absent or fitting. */
export type Fields = Readonly<Record<string, Check>>

/** A value of this JSON type. */
export function typed(type: 'string' | 'number' | 'boolean' | 'array' | 'object'): Check {
  return (value, path) => {
    if (typeName(value) !== type) throw invalidMessages(path, type, value)
  }
}

const array = typed('array')
const anyObject = typed('object')

/** Anything but absent. */
export const present: Check = (value, path) => {
  if (value === undefined) throw invalidMessages(path, 'JSON value', value)
}

/** One of `names`, written with `|` between them. */
export function oneOf(names: string): Check {
  const allowed: unknown[] = names.split('|')
  return (value, path) => {
    if (!allowed.includes(value)) throw invalidMessages(path, names, value, true)
  }
}

/** An array whose items all fit. */
export function list(item: Check): Check {
  return (value, path) => {
    array(value, path)
    const items = value as unknown[] // `array` has just shown that it is one
    // By index: a list may have holes, which JSON has not.
    for (let index = 0; index < items.length; index += 1) item(items[index], `${path}[${index}]`)
  }
}

/** An object with these fields; others are kept unseen. */
export function object(fields: Fields): Check {
  const checks = Object.entries(fields).map(([key, check]) => ({ name: key.replace('?', ''), isOptional: key.endsWith('?'), check }))
  return (value, path) => {
    anyObject(value, path)
    const record = value as Record<string, unknown> // `anyObject` has just shown that it is one
    // Nobody means this key; whoever copies the object by assignment would change its prototype.
    if (Object.hasOwn(record, '__proto__')) throw invalidMessages(`${path}.__proto__`, 'no such key', value)
    for (const { name, isOptional, check } of checks) {
      const field = record[name]
      if (!isOptional || field !== undefined) check(field, `${path}.${name}`)
    }
  }
}

/** An object whose string field `tag` picks the fields the rest must have. */
export function tagged(tag: string, variants: Readonly<Record<string, Fields>>): Check {
  const head = object({ [tag]: oneOf(Object.keys(variants).join('|')) })
  const checks = new Map(Object.entries(variants).map(([name, fields]) => [name, object(fields)]))
  return (value, path) => {
    head(value, path)
    const record = value as Record<string, string> // `head` has just shown that `tag` names a variant
    checks.get(record[tag] ?? '')?.(value, path)
  }
}
