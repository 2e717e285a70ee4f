import { sha256 } from '../base/sha256.ts'

/** What every provider takes as the name of a tool. */
const legal = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/
/** What {@link toolName} ends a name with that it had to change. */
const marked = /_[0-9a-f]{12}$/

/** What a prefix may be: without `__`, so that nothing but the first of them ends it. */
export const legalPrefix = /^(?=.{1,32}$)[a-zA-Z](?:_?[a-zA-Z0-9-])*$/

/**
 * The name under which a model calls the tool `name` of a server: `{prefix}__{name}`.
 *
 * **Contract**: legal for every provider, and different for different names and prefixes. A name that is not legal, is too long, or looks like
 * one of these, keeps what of it is legal and ends in twelve digits of its hash.
 */
export function toolName(prefix: string | undefined, name: string): string {
  const whole = prefix === undefined ? name : `${prefix}__${name}`
  if (legal.test(whole) && !marked.test(whole)) return whole
  // As JSON, in which halves of characters differ from one another.
  const kept = whole.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?![a-zA-Z_])/, '_')
  return `${kept.slice(0, 51)}_${sha256(JSON.stringify(whole)).slice(0, 12)}`
}
