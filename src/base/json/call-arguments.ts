import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import { isPlainObject, maxJsonDepth } from '../../contract/shape/json-fault.ts'
import { hasHalf } from '../text/characters.ts'

/** Describes the fault in truncated arguments. */
export const cutFault = 'cut off before their end'

/** Parsed arguments of a call, or the reason why they are invalid. */
export type ParsedArguments = { arguments: JsonObject; fault?: never } | { fault: string }

/**
 * Parses a model's tool-call arguments.
 *
 * **Contract**
 * - Never throws. Accepts `null` as `{}`, because some providers send it for a call without arguments. Unwraps a JSON string that contains
 *   the object, because some models encode arguments twice.
 * - Rejects ambiguous text (repeated keys, and everything that {@link argumentsFault} rejects), so that the displayed, approved and
 *   executed arguments are always the same.
 */
export function parseArguments(text: string): ParsedArguments {
  let value: unknown
  try {
    value = JSON.parse(text) ?? {}
  } catch {
    return { fault: isUnfinished(text) ? cutFault : 'not a JSON object' }
  }
  if (typeof value === 'string' && value.trimStart().startsWith('{')) return parseArguments(value)
  const found: Walk = { members: 0 }
  walk(value, 1, found)
  if (!isJsonObject(value)) return { fault: 'not a JSON object' }
  if (found.fault !== undefined) return { fault: found.fault }
  return found.members === countMembers(text) ? { arguments: value } : { fault: 'a duplicate key' }
}

/**
 * Returns the reason why a JSON round trip would change `value`, or `undefined`. Reasons are a number beyond the range of doubles, `-0`, a
 * lone surrogate, a value that JSON cannot represent, and more than 200 levels.
 */
export function argumentsFault(value: unknown): string | undefined {
  const found: Walk = { members: 0 }
  walk(value, 1, found)
  return found.fault
}

/** State of a walk through a value. */
interface Walk {
  /** Number of members in all objects. */
  members: number
  fault?: string
}

function walk(value: unknown, depth: number, found: Walk): void {
  if (found.fault !== undefined || value === null || typeof value === 'boolean') return
  if (typeof value === 'string') checkText(value, found)
  else if (typeof value === 'number') checkNumber(value, found)
  else if (depth > maxJsonDepth) found.fault = `nested more than ${maxJsonDepth} levels deep`
  else if (Array.isArray(value)) for (const part of value) walk(part, depth + 1, found)
  else if (!isPlainObject(value)) found.fault = `a value of type ${typeof value === 'object' ? 'object that is not plain' : typeof value}`
  else {
    for (const [key, part] of Object.entries(value)) {
      found.members += 1
      checkText(key, found)
      walk(part, depth + 1, found)
    }
  }
}

function checkNumber(value: number, found: Walk): void {
  if (!Number.isFinite(value)) found.fault = 'a number that is too large'
  else if (Object.is(value, -0)) found.fault = 'the number -0; write 0'
}

function checkText(text: string, found: Walk): void {
  if (hasHalf(text)) found.fault = 'half of a surrogate pair'
}

/** Returns whether `text` is truncated JSON. */
function isUnfinished(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else if (character === '"') {
      at = endOfString(text, at)
      if (at === text.length) return true
    }
  }
  return depth > 0 || text.trim() === ''
}

/** Returns the number of members in all objects in `json`, including duplicates. */
function countMembers(json: string): number {
  let count = 0
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === ':') count += 1
    else if (character === '"') at = endOfString(json, at)
  }
  return count
}

/** Returns the end index of the string that starts at `start`. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = 0
    while (json[end - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return end
  }
  return json.length
}
