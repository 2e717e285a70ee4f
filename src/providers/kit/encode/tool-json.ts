import type { JsonSchema } from '../../../contract/json.ts'
import type { ToolDefinition } from '../../../contract/model/request.ts'
import { perObject } from './per-object.ts'

const rootUnions = ['anyOf', 'oneOf', 'allOf'] as const

/** `schema` for services that take no union at the root of a tool's parameters: the branches are merged into one object, all optional. */
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

/**
 * Tool definitions as comma-separated JSON, each made by `encode`: once per definition, and joined once as long as they stay the same.
 */
export function toolsEncoder(encode: (tool: ToolDefinition) => string): (tools: readonly ToolDefinition[]) => string {
  const one = perObject(encode)
  let last: { tools: readonly ToolDefinition[]; json: string } = { tools: [], json: '' }
  return (tools) => {
    const isSame = tools.length === last.tools.length && tools.every((tool, index) => tool === last.tools[index])
    if (!isSame) last = { tools: [...tools], json: tools.map(one).join(',') }
    return last.json
  }
}
