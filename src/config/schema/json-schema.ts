import * as z from 'zod'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { Key } from './key-table.ts'
import { root } from './sections.ts'

/**
 * Returns the JSON Schema (2020-12) of agent files for editors, generated from the table that also validates files. Also published as
 * `phi-core/config/schema.json`.
 *
 * Source: docs/reference/configuration.md
 */
export function configJsonSchema(): JsonObject {
  const { properties, ...section } = sectionSchema(root)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: root.about,
    ...section,
    properties: { $schema: { type: 'string' }, ...properties },
  }
}

interface SectionSchema extends JsonObject {
  properties: JsonObject
}

function sectionSchema({ inner = {}, others }: Key): SectionSchema {
  const keys = Object.entries(inner)
  const properties = keys.flatMap(([name, key]): [string, JsonValue][] => {
    const schema = { description: aboutOf(key), ...valueSchema(key) }
    return [[name, schema], ...key.aliases.map((alias): [string, JsonValue] => [alias, { ...schema, description: `The same as ${name}.` }])]
  })
  const required = keys.filter(([, { isOptional }]) => isOptional !== true).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    patternProperties: { '^_comment': {} },
    additionalProperties: others === undefined ? false : leafSchema(others),
  }
}

function valueSchema(key: Key): JsonObject {
  if (key.inner === undefined) return leafSchema(key)
  return key.isList ? { type: 'array', items: sectionSchema(key) } : sectionSchema(key)
}

function leafSchema({ schema }: Key): JsonObject {
  const { $schema: _, ...leaf } = z.toJSONSchema(schema, { io: 'input' })
  return JSON.parse(JSON.stringify(leaf))
}

function aboutOf({ about, fallback }: Key): string {
  return fallback === undefined ? about : `${about} Default: ${fallback}.`
}
