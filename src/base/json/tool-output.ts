import { errorText } from '../../contract/errors.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { ClientCallAnswer } from '../../types/run/question.ts'

/** Stands for the result of a tool that returns nothing. */
export const noOutput = '(no output)'

/** A value as JSON, or the reason that it cannot be shown. */
export type ShownOutput = { json: string; value: JsonValue } | { why: string }

/** Writes what a tool returned as JSON. Never throws, whatever getters and `toJSON` do. */
export function shownOutput(value: unknown): ShownOutput {
  try {
    if (!isJson(value)) return { why: `it is ${kindOf(value)}, which JSON cannot hold` }
    const json: string | undefined = JSON.stringify(value)
    return json === undefined ? { why: 'its JSON is empty' } : { json, value: JSON.parse(json) }
  } catch (error) {
    return { why: firstLine(errorText(error)) }
  }
}

/** Tells the model that a tool ran, although its result is lost: a model that reads of an error calls again. */
export function unshownText(why: string): string {
  return `The tool ran. Its result cannot be shown: ${why.replace(/[.!?]?$/, '.')}`
}

/**
 * What to answer for a call of a page in place of an answer that was refused, the first one that is taken. The tool has run: a model that hears of an error, or
 * nothing at all, has it run again.
 */
export function answersInstead(refused: ClientCallAnswer, why: string): ClientCallAnswer[] {
  if ('error' in refused) return [{ error: 'Failed.' }, { error: '' }]
  return [{ output: unshownText(why) }, { output: 'The tool ran.' }, { output: '' }]
}

/** At its top: further down, what JSON makes of a value is taken. Of a map it would make `{}`. */
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

/** Engines draw a circle over several lines. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 500) ?? ''
}
