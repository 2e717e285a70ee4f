import type { JsonSchema } from '../contract/json.ts'
import { type OutputForm, type ResponseFormat, responseFormat } from '../contract/model/request-settings.ts'
import { tagsOf } from '../contract/shape/shape.ts'
import { asToolName, maxToolName } from '../contract/tool/tool-result.ts'
import type { ResponseFormatInput } from '../types/model/provider.ts'
import type { StandardSchema } from '../types/standard-schema.ts'
import { isWrapped, wrappedSchema, wrapperName } from './response-shape.ts'
import { jsonSchemaOf } from './tool-parameters.ts'

const formats: readonly string[] = tagsOf(responseFormat)
/** By schema, so that every request of a conversation carries the same object and its encoded form is found again. */
const made = new WeakMap<object, ResponseFormat>()

/**
 * What `input` asks for; the same object each time.
 *
 * **Contract**: throws `ConfigError` `invalidOption` for a Standard Schema that gives no JSON Schema. An answer that is no object is held in the property
 * `value` of one: services take nothing else.
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

/** What `input` asks for, as plain JSON that asks for the same when it is given in its place. Throws as {@link responseFormatOf}. */
export function plainFormat(input: ResponseFormatInput): ResponseFormat {
  return isResponseFormat(input) ? input : fromSchema(input)
}

function read(input: ResponseFormatInput): ResponseFormat {
  const format = plainFormat(input)
  if (format.type !== 'jsonSchema' || !isWrapped(format.schema)) return format
  return { ...format, schema: wrappedSchema(format.schema) }
}

/** The schema of an answer as its caller knows it: not held in an object. `undefined` where there is none. Throws as {@link responseFormatOf}. */
export function answerSchemaOf(input: ResponseFormatInput): JsonSchema | undefined {
  if (!isResponseFormat(input)) return schemaIn(input)
  return input.type === 'jsonSchema' ? input.schema : undefined
}

/** The property that holds the answer, where it is no object. `undefined` too where no service could be asked for it. */
export function holderOf(input: ResponseFormatInput): string | undefined {
  try {
    const schema = answerSchemaOf(input)
    return schema !== undefined && isWrapped(schema) ? wrapperName : undefined
  } catch {
    return undefined
  }
}

/** What of an answer is told to those who only see events; `undefined` where it need not be JSON. */
export function outputFormOf(input: ResponseFormatInput): OutputForm | undefined {
  if (isResponseFormat(input) && input.type === 'text') return undefined
  const property = holderOf(input)
  return property === undefined ? {} : { property }
}

/** No JSON Schema type is called like a format. */
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

/** Services take the letters of a tool name, at most 64 of them. */
function nameOf({ title }: JsonSchema): string {
  const name = typeof title === 'string' ? asToolName(title).slice(0, maxToolName) : ''
  return name === '' ? 'answer' : name
}
