import { dataKeywords, namedSchemaKeywords } from '../base/json/schema-keywords.ts'
import { escapeControls } from '../base/text/characters.ts'
import { type JsonSchema, setOwnField } from '../contract/json.ts'
import { isPlainObject } from '../contract/shape/json-fault.ts'

/** Keywords whose values are human-readable text. */
const readable = new Set(['title', 'description', 'markdownDescription', '$comment', 'enumNames', 'enumDescriptions'])
/** Keywords whose values are compared with data and must stay unchanged. */
const data = new Set([...dataKeywords, 'required'])

/** Returns a copy of an untrusted schema without control characters in titles and descriptions. Validation does not change. */
export function readableSchema(schema: JsonSchema): JsonSchema {
  return copyOf(schema, (key, value) => {
    if (readable.has(key)) return readableText(value)
    if (data.has(key)) return value
    return namedSchemaKeywords.has(key) && isPlainObject(value) ? copyOf(value, (_, each) => readablePart(each)) : readablePart(value)
  })
}

function readablePart(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readablePart)
  return isPlainObject(value) ? readableSchema(value) : value
}

function readableText(value: unknown): unknown {
  if (typeof value === 'string') return escapeControls(value)
  return Array.isArray(value) ? value.map(readableText) : readablePart(value)
}

function copyOf(given: JsonSchema, change: (key: string, value: unknown) => unknown): JsonSchema {
  const copy: JsonSchema = {}
  for (const [key, value] of Object.entries(given)) setOwnField(copy, key, change(key, value))
  return copy
}
