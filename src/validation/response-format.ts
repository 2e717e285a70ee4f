import type { JsonSchema } from '../contract/json.ts'
import { type OutputForm, type ResponseFormat, responseFormat } from '../contract/model/request-settings.ts'
import { tagsOf } from '../contract/shape/shape.ts'
import { asToolName, maxToolName } from '../contract/tool/tool-result.ts'
import type { ResponseFormatInput } from '../types/model/provider.ts'
import type { StandardSchema } from '../types/standard-schema.ts'
import { isWrapped, wrappedSchema, wrapperName } from './response-shape.ts'
import { jsonSchemaOf } from './tool-parameters.ts'

const formats: readonly string[] = tagsOf(responseFormat)
/** Formats by schema, so that all requests share one object and its cached encoding. */
const made = new WeakMap<object, ResponseFormat>()

/**
 * Returns the response format for `input`. Returns the same object for the same input.
 *
 * **Contract**: throws `ConfigError` `invalidOption` for a Standard Schema without a JSON Schema. Wraps the schema of a response that is
 * not an object in a `value` property, because providers accept only objects.
 *
 * Source: docs/guides/structured-output.md
 */
export function responseFormatOf(input: ResponseFormatInput): ResponseFormat {
  let format = made.get(input)
  if (format === undefined) {
    format = read(input)
    made.set(input, format)
  }
  return format
}

/** Returns `input` as equivalent plain JSON. Throws the same errors as {@link responseFormatOf}. */
export function plainFormat(input: ResponseFormatInput): ResponseFormat {
  return isResponseFormat(input) ? input : fromSchema(input)
}

function read(input: ResponseFormatInput): ResponseFormat {
  const format = plainFormat(input)
  if (format.type !== 'jsonSchema' || !isWrapped(format.schema)) return format
  return { ...format, schema: wrappedSchema(format.schema) }
}

/** Returns the unwrapped schema of the response, or `undefined` without one. Throws the same errors as {@link responseFormatOf}. */
export function answerSchemaOf(input: ResponseFormatInput): JsonSchema | undefined {
  if (!isResponseFormat(input)) return schemaIn(input)
  return input.type === 'jsonSchema' ? input.schema : undefined
}

/** Returns the property that wraps a response that is not an object. Also `undefined` if the format is invalid. */
export function holderOf(input: ResponseFormatInput): string | undefined {
  try {
    const schema = answerSchemaOf(input)
    return schema !== undefined && isWrapped(schema) ? wrapperName : undefined
  } catch {
    return undefined
  }
}

/** Returns the output form for readers of events, or `undefined` if the response need not be JSON. */
export function outputFormOf(input: ResponseFormatInput): OutputForm | undefined {
  if (isResponseFormat(input) && input.type === 'text') return undefined
  const property = holderOf(input)
  return property === undefined ? {} : { property }
}

/** No JSON Schema type has the name of a format. */
function isResponseFormat(input: ResponseFormatInput): input is ResponseFormat {
  return !isStandard(input) && typeof input.type === 'string' && formats.includes(input.type)
}

function isStandard(input: ResponseFormatInput): input is StandardSchema {
  return '~standard' in input
}

function schemaIn(input: Exclude<ResponseFormatInput, ResponseFormat>): JsonSchema {
  return isStandard(input) ? jsonSchemaOf(input, 'invalidOption', 'responseFormat', 'instead') : input
}

function fromSchema(input: Exclude<ResponseFormatInput, ResponseFormat>): ResponseFormat {
  const schema = schemaIn(input)
  return { type: 'jsonSchema', name: nameOf(schema), schema }
}

/** Returns a valid tool name from the title, at most 64 characters. */
function nameOf({ title }: JsonSchema): string {
  const name = typeof title === 'string' ? asToolName(title).slice(0, maxToolName) : ''
  return name === '' ? 'answer' : name
}
