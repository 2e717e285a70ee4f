import type { JsonSchema } from '../../types/json.ts'

const rootUnions = ['anyOf', 'oneOf', 'allOf'] as const

/**
 * `schema` for services that take no union at the root of a tool's parameters: the branches are merged into one object, all optional.
 * Source: reference/providers.md §1 "Body".
 */
export function rootObject(schema: JsonSchema): JsonSchema {
  const root: JsonSchema = { ...schema, type: 'object' }
  let properties: object = {}
  let hasUnion = false
  for (const keyword of rootUnions) {
    const branches = schema[keyword]
    if (branches === undefined) continue
    hasUnion = true
    delete root[keyword]
    if (Array.isArray(branches)) for (const branch of branches) properties = { ...properties, ...propertiesOf(branch) }
  }
  if (hasUnion) root.properties = { ...properties, ...propertiesOf(schema) }
  return root
}

function propertiesOf(schema: unknown): object {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return {}
  const { properties } = schema
  return typeof properties === 'object' && properties !== null ? properties : {}
}
