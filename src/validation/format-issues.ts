import { shortened } from '../base/text/characters.ts'
import { errorText } from '../contract/errors.ts'
import type { SchemaIssue, SchemaResult } from '../types/standard-schema.ts'

/** Maximum number of reported issues. More issues do not help a model. */
export const maxIssues = 20

/**
 * Formats issues for a model, one line each: `path: message`, such as `files[0].name: expected string, got number`. Issues with the whole
 * value have the path `whole`.
 */
export function formatIssues(issues: readonly SchemaIssue[], whole = 'arguments'): string {
  return issues.map((issue) => `${formatPath(issue.path ?? []) || whole}: ${issue.message.replace(/[\r\n]+/g, ' ')}`).join('\n')
}

/** Formats a path as `files[0].name`. Returns an empty string for the whole value. */
export function formatPath(path: readonly (PropertyKey | { key: PropertyKey })[]): string {
  let text = ''
  for (const step of path) {
    const key = typeof step === 'object' ? step.key : step
    if (typeof key === 'number') text += `[${key}]`
    else if (typeof key === 'string' && /^[\w$-]+$/.test(key)) text += text === '' ? key : `.${key}`
    else text += `[${JSON.stringify(String(key))}]`
  }
  return text
}

/**
 * Returns the result of `find`, whose empty result means valid. Never throws: an Error (value is not JSON) or RangeError (endless
 * references, too deep or too large) becomes an issue.
 */
export function resultOf(value: unknown, find: (value: unknown) => readonly SchemaIssue[] | undefined): SchemaResult<unknown> {
  try {
    const issues = find(value)
    return issues === undefined ? { value } : { issues }
  } catch (error) {
    if (error instanceof RangeError) return { issues: [{ message: 'too large or too deeply nested to check' }] }
    return { issues: [{ message: `cannot be checked: ${errorText(error)}` }] }
  }
}

const shown = 200

/** Describes for a model how `actual` violates a keyword. `expected` is the keyword's value. */
export function describeFailure(keyword: string, expected: unknown, actual: unknown): string {
  const wanted = expectation(keyword, expected)
  return `${wanted}, got ${gotten(keyword, actual)}`
}

function expectation(keyword: string, expected: unknown): string {
  switch (keyword) {
    case 'type':
      return `expected ${Array.isArray(expected) ? expected.join(' or ') : String(expected)}`
    case 'enum':
      return `expected one of ${Array.isArray(expected) ? cut(expected.map((item) => JSON.stringify(item)).join(', ')) : 'a fixed list'}`
    case 'const':
      return `expected ${json(expected)}`
  }
  const bound = bounds.get(keyword)
  return bound === undefined ? `does not fit ${keyword}` : `expected ${bound.replace('#', String(expected))}`
}

const bounds: ReadonlyMap<string, string> = new Map([
  ['minimum', 'at least #'],
  ['maximum', 'at most #'],
  ['exclusiveMinimum', 'more than #'],
  ['exclusiveMaximum', 'less than #'],
  ['minLength', 'at least # characters'],
  ['maxLength', 'at most # characters'],
  ['minItems', 'at least # items'],
  ['maxItems', 'at most # items'],
  ['minProperties', 'at least # properties'],
  ['maxProperties', 'at most # properties'],
])

function gotten(keyword: string, actual: unknown): string {
  if (keyword === 'type') return typeName(actual)
  if (keyword.endsWith('Length') && typeof actual === 'string') return String([...actual].length)
  if (keyword.endsWith('Items') && Array.isArray(actual)) return String(actual.length)
  if (keyword.endsWith('Properties') && typeof actual === 'object' && actual !== null) return String(Object.keys(actual).length)
  return json(actual)
}

/** Returns the JSON Schema type of a value. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Returns the JSON of `value`, truncated for a model. */
export function json(value: unknown): string {
  return cut(JSON.stringify(value) ?? String(value))
}

/** Truncates `text` for a model. */
export function cut(text: string): string {
  return shortened(text, shown)
}
