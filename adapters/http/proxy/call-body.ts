import { isJsonObject } from '../../../src/contract/json.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { assertJson, type BodyLimits, parseObject, readText } from '../access/body.ts'
import { refuse } from '../access/problem.ts'

/** The body of a call: the text is sent as it came, the object is what was decided on. */
export interface CallBody {
  text: string
  json: JsonObject
}

/** What is said, not who is to answer: nothing in it names a model. */
export const saidFields: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'contents', 'system', 'systemInstruction', 'system_instruction', 'instructions', 'prompt', 'prediction'],
  ...['metadata', 'client_metadata', 'requestMetadata', 'promptVariables', 'labels'],
])
/** A field that names a model, the one that answers or one that may take its place, whatever stands before it and in any case. */
const namesModels = /(?:models?(?:[_-]?(?:ids?|names?|slugs?))?|fallbacks?)$/i
/** Forms of arguments and answers: what they call `model` is a word of the client's. */
export const describesForms = /(?:schema|^functions|^function_?declarations|^guided_json|^structured_outputs)$/i
export const formsOfFunctions: ReadonlySet<string> = new Set(['function', 'parameters'])
/** Services refuse bodies that are as deep as this. */
const maxDepth = 512

/**
 * The body of a call, checked so that the service cannot read another one out of it.
 *
 * **Contract**
 * - It is an object of strict JSON in UTF-8, sent as `application/json` (a foreign page cannot send that without asking first), not compressed.
 * - No field of an object stands twice, at the top not in another case either: parsers disagree on which one counts, and it may be the model.
 *   What is said is not looked at.
 * - At most 512 objects and lists lie within each other.
 * - Throws `ProblemError` 415, 413, 408 or 400. What is too long or too slow is not read on.
 */
export async function readCallBody(request: Request, limits: BodyLimits): Promise<CallBody> {
  assertJson(request)
  const text = await readText(request, limits)
  const json = parseObject(text)
  assertOneReading(text)
  return { text, json }
}

/** Every model that the body names; an entry that is no text stands for a place that names one in a way nobody knows. */
export function modelsNamedIn(body: JsonObject): string[] {
  return modelsAt(body, saidFields)
}

function modelsAt(holder: JsonObject, unread: ReadonlySet<string>): string[] {
  return Object.entries(holder).flatMap(([field, value]) => {
    if (unread.has(field) || describesForms.test(field)) return []
    if (namesModels.test(field)) return namesIn(value)
    return field === 'tools' && Array.isArray(value) ? value.flatMap(modelsOfTool) : modelsBelow(value)
  })
}

/** A function of the client's has a form; what any other tool has is for the service to read. */
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
  // No id has a blank: it is refused.
  return 'model' in value ? modelsAt(value, nothing) : [' ']
}

/** Refuses with 400 a text that parsers may understand in different ways. It is known to be a JSON object. */
function assertOneReading(text: string): void {
  /** The names of each object around the place, outermost first; `undefined` for a list. */
  const around: (Set<string> | undefined)[] = []
  let isKeyNext = false
  let isSaid = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') {
      const end = endOfString(text, at)
      const names = isKeyNext ? around.at(-1) : undefined
      if (names !== undefined && (around.length === 1 || !isSaid)) {
        const key = stringAt(text, at, end)
        addOnce(names, key, around.length === 1)
        if (around.length === 1) isSaid = saidFields.has(key)
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

/** Where the string that begins at `start` ends. Long ones are jumped over: most of a body is text and images. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
