import { ConfigError } from '../contract/errors.ts'
import type { JsonSchema } from '../contract/json.ts'
import { type ResponseFormat, responseFormat } from '../contract/model/request.ts'
import { tagsOf } from '../contract/shape/shape.ts'
import type { ResponseFormatInput } from '../types/model/provider.ts'
import type { StandardSchema } from '../types/standard-schema.ts'
import { jsonSchemaOf } from './tool-parameters.ts'

const formats = tagsOf(responseFormat)
/** By schema, so that every request of a conversation carries the same object and its encoded form is found again. */
const made = new WeakMap<object, ResponseFormat>()

/**
 * What `input` asks for; the same object each time.
 *
 * **Contract**: throws `ConfigError` `invalidOption` for a Standard Schema that gives no JSON Schema, and for a schema without an object at
 * its root, which no service accepts.
 *
 * Source: docs/concepts/structured-output.md
 */
export function responseFormatOf(input: ResponseFormatInput): ResponseFormat {
  let format = made.get(input)
  if (format === undefined) {
    format = read(input)
    made.set(input, format)
  }
  return format
}

function read(input: ResponseFormatInput): ResponseFormat {
  const format = isResponseFormat(input) ? input : fromSchema(input)
  if (format.type === 'jsonSchema' && format.schema.type !== 'object') {
    throw new ConfigError(
      'invalidOption',
      `responseFormat: the schema of an answer needs "type": "object" at its root, not ${JSON.stringify(format.schema.type)}. Put other values into a property.`,
    )
  }
  return format
}

/** No JSON Schema type is called like a format. */
function isResponseFormat(input: ResponseFormatInput): input is ResponseFormat {
  return !isStandard(input) && typeof input.type === 'string' && formats.includes(input.type)
}

function isStandard(input: ResponseFormatInput): input is StandardSchema {
  return '~standard' in input
}

function fromSchema(input: Exclude<ResponseFormatInput, ResponseFormat>): ResponseFormat {
  const schema: JsonSchema = isStandard(input) ? jsonSchemaOf(input, 'invalidOption', 'responseFormat', 'instead') : input
  return { type: 'jsonSchema', name: nameOf(schema), schema }
}

/** Services take the letters of a tool name, at most 64 of them. */
function nameOf({ title }: JsonSchema): string {
  const name = typeof title === 'string' ? title.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 64) : ''
  return name === '' ? 'answer' : name
}
