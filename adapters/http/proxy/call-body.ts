import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { assertJson, type BodyLimits, isObject, parseObject, readText } from '../access/body.ts'
import { refuse } from '../access/problem.ts'

/** The body of a call: the text is sent as it came, the object is what was decided on. */
export interface CallBody {
  text: string
  json: JsonObject
}

/** Where bodies name models: the one that answers, and those that may take its place. */
const modelFields = ['model', 'models', 'fallbacks', 'fallback_models'] as const
/** Where tools and plugins of the service name those that they call. */
const namesModels = /(?:^|_)models?$/i

/**
 * The body of a call, checked so that the service cannot read another one out of it.
 *
 * **Contract**
 * - It is an object of strict JSON in UTF-8, sent as `application/json` (a foreign page cannot send that without asking first), not compressed.
 * - No field of the object stands twice, also in another case: parsers disagree on which one counts, and it may be the model.
 * - Throws `ProblemError` 415, 413, 408 or 400. What is too long or too slow is not read on.
 */
export async function readCallBody(request: Request, limits: BodyLimits): Promise<CallBody> {
  assertJson(request)
  const text = await readText(request, limits)
  const json = parseObject(text)
  const seen = new Set<string>()
  for (const key of topLevelKeys(text)) {
    const folded = key.toUpperCase().toLowerCase()
    if (seen.has(folded) || (key !== folded && modelFields.some((field) => field === folded))) {
      refuse(400, 'invalidBody', `The body has the field ${JSON.stringify(key.slice(0, 40))} twice, or in another case. Send it once.`)
    }
    seen.add(folded)
  }
  return { text, json }
}

/** Every model that the body names; an entry that is no text stands for a place that names one in a way nobody knows. */
export function modelsNamedIn(body: JsonObject): string[] {
  const callers = [body.tools, body.plugins].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
  const ofCallers = callers.flatMap((caller) =>
    Object.entries(caller).flatMap(([field, value]) => (namesModels.test(field) ? [value] : [])),
  )
  return [...modelFields.map((field) => body[field]), ...ofCallers].flatMap(namesIn)
}

function namesIn(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(namesIn)
  // No id has a blank: it is refused.
  return isObject(value) && 'model' in value ? namesIn(value.model) : [' ']
}

/** The field names of the object that `text` is, each as often as it stands there. `text` is known to be JSON. */
function topLevelKeys(text: string): string[] {
  const keys: string[] = []
  let depth = 0
  let isKeyNext = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') {
      const end = endOfString(text, at)
      if (isKeyNext) keys.push(JSON.parse(text.slice(at, end + 1)))
      isKeyNext = false
      at = end
    } else if (char === '{' || char === '[') {
      depth++
      isKeyNext = depth === 1
    } else if (char === '}' || char === ']') depth--
    else if (char === ',') isKeyNext = depth === 1
  }
  return keys
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
