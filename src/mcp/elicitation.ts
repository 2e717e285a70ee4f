import { copyJson } from '../base/json/json-value.ts'
import { escapeControls } from '../base/text/characters.ts'
import { errorText } from '../contract/errors.ts'
import { type JsonObject, type JsonSchema, ownOf, setOwnField } from '../contract/json.ts'
import type { InputQuestion } from '../contract/run/run-facts.ts'
import { isPlainObject, jsonFault } from '../contract/shape/json-fault.ts'
import type { InputAnswer } from '../types/run/question.ts'
import type { ToolContext } from '../types/tool/tool.ts'
import { jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { cutText } from './call-result.ts'

/** Maximum elicitations per call, and attempts per form. */
const maxQuestions = 20
const maxAttempts = 3
const maxFields = 50
const maxMessage = 4000
const maxWords = 500
const maxChoices = 200

/**
 * Returns a handler that converts the server's elicitations to `inputRequested` events.
 *
 * **Contract**
 * - Never rejects. Resolves with `cancel` if the request is neither a flat form nor a web URL, after 20 elicitations, or if no user
 *   responds.
 * - Adds the form's defaults to the input and validates it. Requests invalid input again, at most twice. Does not open URLs.
 */
export function elicitFrom({
  requestInput,
}: Pick<ToolContext, 'requestInput'>): ((params: unknown, signal: AbortSignal) => Promise<InputAnswer>) | undefined {
  if (requestInput === undefined) return undefined
  let asked = 0
  return async (params, signal) => {
    const question = questionOf(params)
    if (question === undefined) return { action: 'cancel' }
    let problem: string | undefined
    for (let attempt = 0; attempt < maxAttempts && asked < maxQuestions; attempt++) {
      asked += 1
      const answer = await requestInput({ ...question, ...(problem !== undefined && { problem }) }, signal)
      if (answer.action !== 'accept' || question.url !== undefined) return { action: answer.action }
      const content = fillDefaults(question.schema, answer.content ?? {})
      problem = await problemOf(question.schema ?? {}, content)
      if (problem === undefined) return { action: 'accept', content }
    }
    return { action: 'cancel' }
  }
}

/** Converts an elicitation to an input request; `undefined` if it is unsupported or unsafe. */
function questionOf(params: unknown): InputQuestion | undefined {
  const { mode, message, requestedSchema, url }: Record<string, unknown> = Object(params)
  if (typeof message !== 'string') return undefined
  const shown = cutText(escapeControls(message), maxMessage)
  if (mode === 'url') {
    const address = typeof url === 'string' && url.length <= 2000 ? URL.parse(url) : null
    const isSafe = address?.protocol === 'https:' && address.username === '' && address.password === ''
    return isSafe ? { message: shown, url: address.href } : undefined
  }
  const schema = mode === undefined || mode === 'form' ? formOf(requestedSchema) : undefined
  return schema && { message: shown, schema }
}

/** Returns the form with its known fields only, so that a client can render it. */
function formOf(given: unknown): JsonSchema | undefined {
  const { type, properties, required }: Record<string, unknown> = Object(given)
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return undefined
  const fields = Object.entries(properties).map(([name, field]) => [name, fieldOf(field)] as const)
  if (fields.length > maxFields || fields.some(([name, field]) => name.length > 100 || name === '__proto__' || field === undefined)) {
    return undefined
  }
  const names = Array.isArray(required) ? required.filter((name) => fields.some(([field]) => field === name)) : []
  return { type: 'object', properties: Object.fromEntries(fields), ...(names.length > 0 && { required: [...new Set(names)] }) }
}

const ofText = ['minLength', 'maxLength'] as const
const ofNumber = ['minimum', 'maximum'] as const
const ofList = ['minItems', 'maxItems'] as const
const figures: Record<string, readonly string[]> = { string: ofText, number: ofNumber, integer: ofNumber, boolean: [], array: ofList }

function wordsOf(text: string): string {
  return cutText(escapeControls(text), maxWords)
}

function fieldOf(given: unknown): JsonSchema | undefined {
  const field: Record<string, unknown> = Object(given)
  const { type, title, description, format, default: preset, enumNames } = field
  const known = typeof type === 'string' ? ownOf(figures, type) : undefined
  if (known === undefined) return undefined
  const shown: JsonSchema = { type: String(type) }
  if (typeof title === 'string') shown.title = wordsOf(title)
  if (typeof description === 'string') shown.description = wordsOf(description)
  for (const name of known) if (typeof field[name] === 'number' && Number.isFinite(field[name])) shown[name] = field[name]
  if (typeof format === 'string' && /^(email|uri|date|date-time)$/.test(format)) shown.format = format
  if (isPreset(preset)) shown.default = preset
  const choices = choicesOf(type === 'array' ? Object(field.items) : field)
  if (choices === undefined && type === 'array') return undefined
  if (isTexts(enumNames) && isTexts(choices?.enum) && enumNames.length === choices.enum.length) shown.enumNames = enumNames.map(wordsOf)
  return type === 'array' ? { ...shown, items: { type: 'string', ...choices } } : { ...shown, ...choices }
}

/** Returns the choices: strings, or strings with titles. */
function choicesOf({ enum: values, oneOf, anyOf }: Record<string, unknown>): JsonSchema | undefined {
  if (isTexts(values)) return { enum: [...values] }
  const titled = oneOf ?? anyOf
  if (!Array.isArray(titled) || titled.length > maxChoices) return undefined
  const options = titled.map((option) => {
    const { const: value, title }: Record<string, unknown> = Object(option)
    return typeof value === 'string' && value.length <= maxWords
      ? { const: value, ...(typeof title === 'string' && { title: wordsOf(title) }) }
      : undefined
  })
  return options.includes(undefined)
    ? undefined
    : { [oneOf === undefined ? 'anyOf' : 'oneOf']: options.filter((option) => option !== undefined) }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= maxChoices && value.every((text) => typeof text === 'string' && text.length <= maxWords)
}

function isPreset(value: unknown): value is string | number | boolean | string[] {
  return /^(boolean|number)$/.test(typeof value) || (typeof value === 'string' && value.length <= maxMessage) || isTexts(value)
}

async function problemOf(schema: JsonSchema, content: JsonObject): Promise<string | undefined> {
  const { properties } = schema
  const extra = Object.keys(content).find((name) => !Object.hasOwn(Object(properties), name))
  if (extra !== undefined) return `${extra}: was not requested`
  try {
    const { issues } = await jsonSchemaValidator.compile(schema)(content)
    return issues?.map(({ message, path }) => `${path?.map(String).join('.') ?? ''}: ${message}`).join('; ')
  } catch (error) {
    return errorText(error)
  }
}

/** Returns a copy of `given` with defaults for missing properties. Does not modify `given` or the schema. */
function fillDefaults(schema: unknown, given: JsonObject): JsonObject {
  const filled = copyJson({ ...given })
  const { properties }: { properties?: unknown } = Object(schema)
  if (!isPlainObject(properties)) return filled
  for (const [name, property] of Object.entries(properties)) {
    const { default: value }: { default?: unknown } = Object(property)
    if (value === undefined || Object.hasOwn(filled, name) || jsonFault(value, 'default') !== undefined) continue
    setOwnField(filled, name, structuredClone(value))
  }
  return filled
}
