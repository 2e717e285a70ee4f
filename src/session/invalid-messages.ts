import { SessionError } from '../types/errors.ts'

/** The JSON type of `value`, or `nothing` where there is no value. */
export function typeName(value: unknown): string {
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

/** The JSON value of `text`; throws `SessionError` `invalidMessages` without the parser's own words: they quote the text, which may be private. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SessionError('invalidMessages', `messages: not valid JSON (${text.length} characters)`)
  }
}
