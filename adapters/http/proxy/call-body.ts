import { isJsonObject } from '../../../src/contract/json.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { assertJson, type BodyLimits, parseObject, readText } from '../access/body.ts'
import { refuse } from '../access/problem.ts'

/** A call's body: the text to forward, and the validated object. */
export interface CallBody {
  text: string
  json: JsonObject
}

/** Content fields, which never select a model. */
export const contentFields: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'contents', 'system', 'systemInstruction', 'system_instruction', 'instructions', 'prompt', 'prediction'],
  ...['metadata', 'client_metadata', 'requestMetadata', 'promptVariables', 'labels'],
])
/** Matches fields that select a model or fallback, case-insensitively and with any prefix. */
const namesModels = /(?:models?(?:[_-]?(?:ids?|names?|slugs?))?|fallbacks?)$/i
/** Schema fields, in which `model` is a property name. */
export const describesForms = /(?:schema|^functions|^function_?declarations|^guided_json|^structured_outputs)$/i
export const formsOfFunctions: ReadonlySet<string> = new Set(['function', 'parameters'])
/** Maximum nesting depth. Providers reject deeper bodies. */
const maxDepth = 512

/**
 * Reads a call's body and ensures that the provider cannot parse it differently.
 *
 * **Contract**
 * - The body is an uncompressed object in strict UTF-8 JSON, sent as `application/json`, which other sites cannot send without a preflight.
 * - No object repeats a field, because parsers disagree on which one applies. At the top level, names must also differ by more than case.
 *   Does not check content fields.
 * - Objects and lists are nested at most 512 levels deep.
 * - Throws `ProblemError` 415, 413, 408 or 400 and stops reading.
 */
export async function readCallBody(request: Request, limits: BodyLimits): Promise<CallBody> {
  assertJson(request)
  const text = await readText(request, limits)
  const json = parseObject(text)
  assertOneReading(text)
  return { text, json }
}

/** Returns every model that the body selects. A blank entry represents a model in an unknown format. */
export function modelsNamedIn(body: JsonObject): string[] {
  return modelsAt(body, contentFields)
}

function modelsAt(holder: JsonObject, unread: ReadonlySet<string>): string[] {
  return Object.entries(holder).flatMap(([field, value]) => {
    if (unread.has(field) || describesForms.test(field)) return []
    if (namesModels.test(field)) return namesIn(value)
    return field === 'tools' && Array.isArray(value) ? value.flatMap(modelsOfTool) : modelsBelow(value)
  })
}

/** Returns the models that a tool selects. Ignores the schema of a client's function. The provider interprets all other tools. */
function modelsOfTool(tool: JsonValue): string[] {
  return isJsonObject(tool) && tool.type === 'function' ? modelsAt(tool, formsOfFunctions) : modelsBelow(tool)
}

function modelsBelow(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(modelsBelow)
  return isJsonObject(value) ? modelsAt(value, nothing) : []
}

const nothing: ReadonlySet<string> = new Set()

function namesIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (!isJsonObject(value)) return []
  // No model id contains a blank, so this is rejected.
  return 'model' in value ? modelsAt(value, nothing) : [' ']
}

/** Rejects a JSON object's text that parsers may read differently with 400. */
function assertOneReading(text: string): void {
  /** Field names of each enclosing object, outermost first, or `undefined` for a list. */
  const around: (Set<string> | undefined)[] = []
  let isKeyNext = false
  let isContentFound = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') {
      const end = endOfString(text, at)
      const names = isKeyNext ? around.at(-1) : undefined
      if (names !== undefined && (around.length === 1 || !isContentFound)) {
        const key = stringAt(text, at, end)
        addOnce(names, key, around.length === 1)
        if (around.length === 1) isContentFound = contentFields.has(key)
      }
      isKeyNext = false
      at = end
    } else if (char === '{' || char === '[') {
      isKeyNext = char === '{'
      around.push(isKeyNext ? new Set() : undefined)
      if (around.length > maxDepth) refuse(400, 'invalidBody', `The body is more than ${maxDepth} levels deep. Send less.`)
    } else if (char === '}' || char === ']') around.pop()
    else if (char === ',') isKeyNext = around.at(-1) !== undefined
  }
}

function addOnce(names: Set<string>, key: string, isFolded: boolean): void {
  const name = isFolded ? key.toUpperCase().toLowerCase() : key
  if (names.has(name))
    refuse(400, 'invalidBody', `The body has the field ${JSON.stringify(key.slice(0, 40))} twice or in different case. Send it once.`)
  names.add(name)
}

function stringAt(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end)
  return inside.includes('\\') ? JSON.parse(`"${inside}"`) : inside
}

/** Returns the end index of the string that starts at `start`. Optimized, because most of a body is text and images. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
