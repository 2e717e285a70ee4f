import { errorText } from '../../contract/errors.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { ClientCallAnswer } from '../../types/run/question.ts'

/** Result text of a tool that returns nothing. */
export const noOutput = '(no output)'

/** A value as JSON, or the reason why it has none. */
export type ShownOutput = { json: string; value: JsonValue } | { why: string }

/** Converts a tool's return value to JSON. Never throws, whatever getters and `toJSON` do. */
export function shownOutput(value: unknown): ShownOutput {
  try {
    if (!isJson(value)) return { why: `it is ${kindOf(value)}, which JSON cannot hold` }
    const json: string | undefined = JSON.stringify(value)
    return json === undefined ? { why: 'its JSON is empty' } : { json, value: JSON.parse(json) }
  } catch (error) {
    return { why: firstLine(errorText(error)) }
  }
}

/** Tells the model that a tool ran although its result is lost, because a model that gets an error calls again. */
export function unshownText(why: string): string {
  return `The tool ran. Its result cannot be shown: ${why.replace(/[.!?]?$/, '.')}`
}

/**
 * Returns substitutes for a rejected client tool result; the first accepted one is used. The tool has run: after an error, or without any
 * result, the model would call it again.
 */
export function answersInstead(refused: ClientCallAnswer, why: string): ClientCallAnswer[] {
  if ('error' in refused) return [{ error: 'Failed.' }, { error: '' }]
  return [{ output: unshownText(why) }, { output: 'The tool ran.' }, { output: '' }]
}

/** Checked at the top level only; nested values follow `JSON.stringify`, which would convert a map to `{}`. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object') return typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value)
  if (value === null || Array.isArray(value)) return true
  return Object.prototype.toString.call(value) === '[object Object]' || ('toJSON' in value && typeof value.toJSON === 'function')
}

function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  return Object.prototype.toString.call(value).slice('[object '.length, -1).slice(0, 60)
}

/** Engines describe a circular reference in several lines. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 500) ?? ''
}
