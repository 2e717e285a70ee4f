import { isJsonObject } from '../../../src/contract/json.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { assertJson, type BodyLimits, parseObject, readText } from '../access/body.ts'
import { refuse } from '../access/problem.ts'

/** The body of a call: the text is forwarded, the object is what was checked. */
export interface CallBody {
  text: string
  json: JsonObject
}

/** Fields with content, which name no model. */
export const contentFields: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'contents', 'system', 'systemInstruction', 'system_instruction', 'instructions', 'prompt', 'prediction'],
  ...['metadata', 'client_metadata', 'requestMetadata', 'promptVariables', 'labels'],
])
/** Matches fields that name a model or a fallback, with any prefix and in any case. */
const namesModels = /(?:models?(?:[_-]?(?:ids?|names?|slugs?))?|fallbacks?)$/i
/** Fields with schemas, whose `model` is a name of the client's. */
export const describesForms = /(?:schema|^functions|^function_?declarations|^guided_json|^structured_outputs)$/i
export const formsOfFunctions: ReadonlySet<string> = new Set(['function', 'parameters'])
/** Providers refuse deeper bodies. */
const maxDepth = 512

/**
 * Reads the body of a call and ensures that the provider cannot parse it differently.
 *
 * **Contract**
 * - It is an object of strict JSON in UTF-8, sent as `application/json` (another site cannot send that without a preflight), not
 *   compressed.
 * - No object repeats a field, at the top also not in another case: parsers disagree on which one counts, and it may be the
 *   model. Content is not checked.
 * - At most 512 objects and lists are nested.
 * - Throws `ProblemError` 415, 413, 408 or 400, and stops reading.
 */
export async function readCallBody(request: Request, limits: BodyLimits): Promise<CallBody> {
  assertJson(request)
  const text = await readText(request, limits)
  const json = parseObject(text)
  assertOneReading(text)
  return { text, json }
}

/** Returns every model that the body names; a blank entry stands for a place that names one in an unknown format. */
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

/** A client's function has a schema; other tools are for the provider to read. */
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
  // No id contains a blank, so this is refused.
  return 'model' in value ? modelsAt(value, nothing) : [' ']
}

/** Refuses with 400 a text that parsers may read differently. It is known to be a JSON object. */
function assertOneReading(text: string): void {
  /** The names of each enclosing object, outermost first; `undefined` for a list. */
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
    refuse(400, 'invalidBody', `The body has the field ${JSON.stringify(key.slice(0, 40))} twice, or in another case. Send it once.`)
  names.add(name)
}

function stringAt(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end)
  return inside.includes('\\') ? JSON.parse(`"${inside}"`) : inside
}

/** Returns the end of the string that begins at `start`. Skips quickly, because most of a body is text and images. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
