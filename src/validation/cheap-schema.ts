import { resolveRef } from '../base/json/json-value.ts'
import { dataKeywords } from '../base/json/schema-keywords.ts'
import { type JsonSchema, setOwnField } from '../contract/json.ts'
import { isPlainObject } from '../contract/shape/json-fault.ts'
import { isUsableKeyword } from './enforceable-schema.ts'

/** Maximum subschemas of one check, with references expanded. */
const maxWeight = 5000
/** Maximum nesting of subschemas, with references expanded: far below a stack overflow. */
const maxDepth = 1000

/**
 * Copies a third-party schema so that every check terminates soon: without unsafe patterns and the keywords that depend on them. Returns
 * `undefined` if its references alone are too expensive. The caller then does not validate values against the schema.
 */
export function cheapSchema(schema: JsonSchema, weight: number = maxWeight): { schema: JsonSchema; isWhole: boolean } | undefined {
  const walk = { isWhole: true }
  const cheap = copied(schema, walk)
  return isPlainObject(cheap) && isBounded(cheap, { root: cheap, above: new Set(), left: weight, depth: 0, loops: 0 }, false)
    ? { schema: cheap, isWhole: walk.isWhole }
    : undefined
}

function copied(node: unknown, walk: { isWhole: boolean }): unknown {
  if (Array.isArray(node)) return node.map((item) => copied(item, walk))
  if (!isPlainObject(node)) return node
  const dropped = new Set<string>()
  if (typeof node.pattern === 'string' && !isUsableKeyword('pattern', node.pattern)) dropped.add('pattern')
  if (isPlainObject(node.patternProperties) && !isUsableKeyword('patternProperties', node.patternProperties)) {
    for (const keyword of ['patternProperties', 'additionalProperties', 'unevaluatedProperties']) dropped.add(keyword)
  }
  if (dropped.size > 0) walk.isWhole = false
  const copy: JsonSchema = {}
  for (const [key, value] of Object.entries(node)) {
    if (dropped.has(key)) continue
    setOwnField(copy, key, dataKeywords.has(key) ? value : copied(value, walk))
  }
  return copy
}

interface Weighing {
  root: JsonSchema
  /** References on the path to this schema. */
  above: Set<string>
  left: number
  depth: number
  /** Recursive references within alternatives: with two of them, time doubles with each level of a value. */
  loops: number
}

/** Returns whether the number of subschemas, each counted per visit, is within the limit. */
function isBounded(node: unknown, weighing: Weighing, isChoice: boolean): boolean {
  if (typeof node !== 'object' || node === null) return true
  weighing.left -= 1
  if (weighing.left < 0 || weighing.depth >= maxDepth) return false
  weighing.depth += 1
  const isFine =
    (!isPlainObject(node) || typeof node.$ref !== 'string' || followed(node.$ref, weighing, isChoice)) &&
    Object.entries(node).every(
      ([key, part]) =>
        key === '$defs' ||
        key === 'definitions' ||
        dataKeywords.has(key) ||
        isBounded(part, weighing, isChoice || /^(any|one|all)Of$/.test(key)),
    )
  weighing.depth -= 1
  return isFine
}

function followed(ref: string, weighing: Weighing, isChoice: boolean): boolean {
  const { above, root } = weighing
  if (above.has(ref) || ref === '#') {
    if (isChoice) weighing.loops += 1
    return weighing.loops < 2
  }
  above.add(ref)
  const isFine = isBounded(resolveRef(root, ref), weighing, isChoice)
  above.delete(ref)
  return isFine
}
