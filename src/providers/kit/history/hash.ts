/** A running hash: two independent 32-bit halves. */
export interface Hash {
  readonly a: number
  readonly b: number
}

/** Where a chain starts. */
export const emptyHash: Hash = { a: 0x2545f491, b: 0x9e3779b9 | 0 }

/** `hash` continued over `text`. Fast and synchronous; tells edits apart, not attackers. */
export function extendHash(hash: Hash, text: string): Hash {
  let { a, b } = hash
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x5bd1e995)
    b ^= b >>> 15
  }
  // The length keeps "ab" + "c" and "a" + "bc" apart.
  return { a: Math.imul(a ^ text.length, 0x27d4eb2f), b: Math.imul(b ^ (a >>> 13), 0x165667b1) }
}

/** `hash` continued over another hash: what was hashed before is not read again. */
export function joinHash(hash: Hash, next: Hash): Hash {
  const a = Math.imul(hash.a ^ next.a, 0x01000193) ^ (hash.b >>> 7)
  const b = Math.imul(hash.b ^ next.b, 0x5bd1e995) ^ (next.a >>> 11)
  return { a, b: b ^ (b >>> 16) }
}

/** 53 bits of `hash` in base 36: up to 11 characters of `[0-9a-z]`. */
export function hashToString({ a, b }: Hash): string {
  return ((a >>> 11) * 0x100000000 + (b >>> 0)).toString(36)
}

/** `hashToString` of a text. */
export function hashText(text: string): string {
  return hashToString(extendHash(emptyHash, text))
}

/**
 * A mapping of tool call ids onto what a service accepts: only characters of the class `allowed` (`a-z0-9_-`), at most `maxLength` of them. Legal ids stay; others
 * are sanitised and get a hash of the original, so that different ids stay different.
 */
export function legalId(allowed: string, maxLength: number): (id: string) => string {
  const illegal = new RegExp(`[^${allowed}]`, 'g')
  return (id) => {
    const clean = id.replace(illegal, '_')
    if (clean === id && id !== '' && id.length <= maxLength) return id
    const hash = hashText(id)
    return `${clean.slice(0, maxLength - hash.length - 1)}_${hash}`
  }
}

/** Which ids a service takes: letters, digits, `_` and `-`; anything visible; or nine letters and digits. The number is the longest. */
export type CallIdRule = 'word64' | 'visible40' | 'visible64' | 'visible256' | 'nineChars'

/** The mapping of ids for each rule. */
export const legalIds: Readonly<Record<CallIdRule, (id: string) => string>> = {
  word64: legalId('a-zA-Z0-9_-', 64),
  visible40: legalId('\\x21-\\x7e', 40),
  visible64: legalId('\\x21-\\x7e', 64),
  visible256: legalId('!-~', 256),
  nineChars,
}

/** The mapping onto exactly nine letters and digits, which Mistral's models want: other ids are hashed to some. */
export function nineChars(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashText(id).padStart(9, '0').slice(-9)
}

const illegalInName = /[^a-zA-Z0-9_-]/g

/** A name as services take it, of letters, digits, `_` and `-`, at most 64: one that a model made up need not be legal. */
export function legalName(name: string): string {
  return name.replace(illegalInName, '_').slice(0, 64) || 'unknown'
}
