import { sha256 } from '../base/hash.ts'
import { asToolName } from '../contract/tool/tool-result.ts'

/** Tool names that every provider accepts: a valid `isToolName` that begins as Gemini requires. */
const legal = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/
/** Suffix of a name that {@link toolName} changed. */
const marked = /_[0-9a-f]{12}$/

/** Rule for prefixes: no `__`, so that the first `__` in a name always ends the prefix. */
export const prefixWords = '1 to 32 letters, digits, "-" and single "_", the first a letter'
export const legalPrefix = /^(?=.{1,32}$)[a-zA-Z](?:_?[a-zA-Z0-9-])*$/

/**
 * Returns the name that a model uses to call a server's tool: `{prefix}__{name}`.
 *
 * **Contract**: valid for every provider, and unique per prefix and name. A name that is invalid, too long, or looks like a changed one
 * keeps its valid characters and ends in twelve hex digits of its hash.
 */
export function toolName(prefix: string | undefined, name: string): string {
  const whole = prefix === undefined ? name : `${prefix}__${name}`
  if (legal.test(whole) && !marked.test(whole)) return whole
  // Encode as JSON, which keeps lone surrogates distinct.
  const kept = asToolName(whole).replace(/^(?![a-zA-Z_])/, '_')
  return `${kept.slice(0, 51)}_${sha256(JSON.stringify(whole)).slice(0, 12)}`
}
