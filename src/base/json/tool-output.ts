import { errorText } from '../../contract/errors.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { ClientCallAnswer } from '../../types/run/question.ts'

/** Result text of a tool that returns nothing. */
export const noOutput = '(no output)'

/** A value as JSON, or the reason why JSON cannot represent it. */
export type ShownOutput = { json: string; value: JsonValue } | { why: string }

/** Converts a tool's return value to JSON. Never throws, even if a getter or `toJSON` throws. */
export function shownOutput(value: unknown): ShownOutput {
  try {
    if (!isJson(value)) return { why: `it is ${kindOf(value)}, which JSON cannot represent` }
    const json: string | undefined = JSON.stringify(value)
    return json === undefined ? { why: 'its JSON is empty' } : { json, value: JSON.parse(json) }
  } catch (error) {
    return { why: firstLine(errorText(error)) }
  }
}

/** Returns a text that says that the tool ran although its result is lost. After an error, the model would call the tool again. */
export function unshownText(why: string): string {
  return `The tool ran, but its result cannot be shown: ${why.replace(/[.!?]?$/, '.')}`
}

/**
 * Returns replacements for a rejected client tool result, in order of preference. The tool has run, and after an error or without a result,
 * the model would call it again.
 */
export function answersInstead(refused: ClientCallAnswer, why: string): ClientCallAnswer[] {
  if ('error' in refused) return [{ error: 'Failed.' }, { error: '' }]
  return [{ output: unshownText(why) }, { output: 'The tool ran.' }, { output: '' }]
}

/** Returns whether a value is JSON at the top level, where `JSON.stringify` would convert a map to `{}`. Does not check nested values. */
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

/** Returns the first line, because engines describe a circular reference in several lines. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 500) ?? ''
}
