import { type OutputUnit, Validator } from '@cfworker/json-schema'
import type { JsonSchema } from '../contract/json.ts'
import type { SchemaIssue } from '../types/standard-schema.ts'
import { isObject, pointerSegments, resolveRef } from './enforceable-schema.ts'
import { describeFailure, maxIssues } from './format-issues.ts'

/**
 * How values differ from `root`, an enforceable schema of any shape; undefined when they do not. Interprets, so it also runs where code
 * generation is forbidden. `path` of an issue leads to the value, a missing or forbidden property included. Throws for what it cannot look at.
 */
export function interpret(root: JsonSchema): (value: unknown) => SchemaIssue[] | undefined {
  const interpreter = new Validator(root, '2020-12', false)
  return (value) => {
    const { valid, errors } = interpreter.validate(value)
    return valid ? undefined : readIssues(errors, root, value)
  }
}

/** Keywords that only say "something inside is wrong"; what is wrong follows as further units. */
const wrappers = new Set([
  '$ref',
  'allOf',
  'if',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'items',
  'prefixItems',
  'unevaluatedItems',
])

/** Keywords whose inner failures are told inside their own issue, or not at all. */
const folding = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames'])

/** The interpreter's flat output as issues a model can act on; at most 20. */
function readIssues(units: readonly OutputUnit[], root: JsonSchema, value: unknown): SchemaIssue[] {
  const issues: SchemaIssue[] = []
  let index = 0
  while (index < units.length && issues.length < maxIssues) {
    const unit = units[index++]
    if (unit === undefined || wrappers.has(unit.keyword)) continue
    if (!folding.has(unit.keyword)) {
      issues.push(...unitIssues(unit, units[index - 2], root, value))
      continue
    }
    const end = endOfInner(units, index, unit.keywordLocation)
    issues.push(foldedIssue(unit, units.slice(index, end), root, value))
    index = end
  }
  return issues
}

/** Inner units follow their keyword; only the unit of a `false` schema does not carry a location below it. */
function endOfInner(units: readonly OutputUnit[], start: number, location: string): number {
  let end = start
  for (; end < units.length; end++) {
    const unit = units[end]
    if (unit === undefined || (unit.keyword !== 'false' && !unit.keywordLocation.startsWith(`${location}/`))) break
  }
  return end
}

function foldedIssue(unit: OutputUnit, inner: readonly OutputUnit[], root: JsonSchema, value: unknown): SchemaIssue {
  const path = valuePath(value, unit.instanceLocation).path
  const message = describeFailure(unit.keyword, undefined, undefined, unit.error)
  if (unit.keyword === 'contains' || unit.keyword === 'propertyNames' || inner.length === 0) return { path, message }
  const reasons = readIssues(inner, root, value).map((issue) => {
    const rest = (issue.path ?? []).slice(path.length).map((key) => String(typeof key === 'object' ? key.key : key))
    return rest.length === 0 ? issue.message : `${rest.join('.')}: ${issue.message}`
  })
  return { path, message: `${message} (${[...new Set(reasons)].slice(0, 5).join('; ')})` }
}

function unitIssues(unit: OutputUnit, before: OutputUnit | undefined, root: JsonSchema, value: unknown): SchemaIssue[] {
  const { path, found } = valuePath(value, unit.instanceLocation)
  if (unit.keyword === 'false') return [{ path, message: notAllowed(before, root) }]
  const expected = atLocation(root, unit.keywordLocation)
  if (unit.keyword !== 'required') return [{ path, message: describeFailure(unit.keyword, expected, found, unit.error) }]
  // One unit per missing name, and the name is only in its text.
  const names = Array.isArray(expected) ? expected.filter((name) => unit.error.endsWith(` "${name}".`)) : []
  return [{ path: [...path, ...names.slice(0, 1).map(String)], message: 'is required' }]
}

function notAllowed(wrapper: OutputUnit | undefined, root: JsonSchema): string {
  if (wrapper?.keyword !== 'additionalProperties') return 'is not allowed'
  const parent = atLocation(root, wrapper.keywordLocation.slice(0, wrapper.keywordLocation.lastIndexOf('/')))
  const names = isObject(parent) && isObject(parent.properties) ? Object.keys(parent.properties) : []
  return names.length === 0 ? 'is not allowed' : `is not allowed; known: ${names.slice(0, 20).join(', ')}`
}

/** The value a keyword has in the schema, following the references its location passes through. */
function atLocation(root: JsonSchema, location: string): unknown {
  let node: unknown = root
  for (const segment of pointerSegments(location)) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, segment)) return undefined
    const next: unknown = Reflect.get(node, segment)
    // A property may be called "$ref"; only as a keyword is it a string.
    node = segment === '$ref' && typeof next === 'string' ? resolveRef(root, next) : next
  }
  return node
}

function valuePath(value: unknown, location: string): { path: PropertyKey[]; found: unknown } {
  const path: PropertyKey[] = []
  let found = value
  for (const segment of pointerSegments(location)) {
    path.push(Array.isArray(found) ? Number(segment) : segment)
    found = typeof found === 'object' && found !== null ? Reflect.get(found, segment) : undefined
  }
  return { path, found }
}
