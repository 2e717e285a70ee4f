import type { JsonSchema } from '../types/json.ts'

/** What the value of a keyword must look like. `annotation` may be anything and constrains nothing. */
export type KeywordShape =
  | 'annotation'
  | 'schema'
  | 'schemas'
  | 'schemaMap'
  | 'patternMap'
  | 'type'
  | 'ref'
  | 'format'
  | 'pattern'
  | 'values'
  | 'value'
  | 'names'
  | 'namesMap'
  | 'count'
  | 'number'
  | 'divisor'
  | 'boolean'

const keywordsOf: Record<KeywordShape, string> = {
  annotation:
    '$schema $id $comment id title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType ' +
    'contentSchema xml externalDocs discriminator',
  schema: 'additionalProperties propertyNames items contains not if then else unevaluatedProperties unevaluatedItems',
  schemas: 'allOf anyOf oneOf prefixItems',
  schemaMap: 'properties $defs definitions dependentSchemas',
  patternMap: 'patternProperties',
  type: 'type',
  ref: '$ref',
  format: 'format',
  pattern: 'pattern',
  values: 'enum',
  value: 'const',
  names: 'required',
  namesMap: 'dependentRequired',
  count: 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum',
  divisor: 'multipleOf',
  boolean: 'uniqueItems',
}

/** Every keyword that is enforced or known to constrain nothing. */
export const keywordShapes: ReadonlyMap<string, KeywordShape> = new Map(
  // The keys of the record above are exactly the shapes.
  (Object.keys(keywordsOf) as KeywordShape[]).flatMap((shape) => keywordsOf[shape].split(' ').map((keyword) => [keyword, shape] as const)),
)

const types: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** Whether `value` may stand behind a keyword of that shape. Subschemas are checked by their own walk. */
export function matchesShape(shape: KeywordShape, value: unknown): boolean {
  switch (shape) {
    case 'annotation':
    case 'schema':
    case 'value':
      return true
    case 'schemas':
      return Array.isArray(value) && value.length > 0
    case 'schemaMap':
      return isObject(value)
    case 'patternMap':
      return isObject(value) && Object.keys(value).every(isPattern)
    case 'type':
      return types.includes(value) || (Array.isArray(value) && value.length > 0 && value.every((item) => types.includes(item)))
    case 'ref':
    case 'format':
      return typeof value === 'string'
    case 'pattern':
      return isPattern(value)
    case 'values':
      return Array.isArray(value) && value.length > 0
    case 'names':
      return isNames(value)
    case 'namesMap':
      return isObject(value) && Object.values(value).every(isNames)
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'divisor':
      return typeof value === 'number' && Number.isFinite(value) && value > 0
    case 'boolean':
      return typeof value === 'boolean'
  }
}

/** Whether `value` is an object that is not an array. */
export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Patterns are compiled here once, so that a broken one is found when the tool is defined and not when it is called. */
function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    return new RegExp(value, 'u') instanceof RegExp
  } catch {
    return false
  }
}
