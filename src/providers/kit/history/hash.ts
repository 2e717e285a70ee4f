/** A running hash of two independent 32-bit halves. */
export interface Hash {
  readonly a: number
  readonly b: number
}

/** The initial hash. */
export const emptyHash: Hash = { a: 0x2545f491, b: 0x9e3779b9 | 0 }

/** Continues `hash` with `text`. Fast and synchronous. Detects edits, but not attacks. */
export function extendHash(hash: Hash, text: string): Hash {
  let { a, b } = hash
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x5bd1e995)
    b ^= b >>> 15
  }
  // Including the length distinguishes "ab" + "c" from "a" + "bc".
  return { a: Math.imul(a ^ text.length, 0x27d4eb2f), b: Math.imul(b ^ (a >>> 13), 0x165667b1) }
}

/** Continues `hash` with another hash, without reading its input again. */
export function joinHash(hash: Hash, next: Hash): Hash {
  const a = Math.imul(hash.a ^ next.a, 0x01000193) ^ (hash.b >>> 7)
  const b = Math.imul(hash.b ^ next.b, 0x5bd1e995) ^ (next.a >>> 11)
  return { a, b: b ^ (b >>> 16) }
}

/** Formats 53 bits of `hash` in base 36: up to 11 characters of `[0-9a-z]`. */
export function hashToString({ a, b }: Hash): string {
  return ((a >>> 11) * 0x100000000 + (b >>> 0)).toString(36)
}

/** Hashes a text with `hashToString`. */
export function hashText(text: string): string {
  return hashToString(extendHash(emptyHash, text))
}

/**
 * Maps tool call ids to ids that a provider accepts: characters of the class `allowed` (`a-z0-9_-`), at most `maxLength`. Valid ids stay
 * unchanged. Others are sanitized and get a hash of the original, so that different ids stay different.
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

/**
 * Rules for tool call ids: letters, digits, `_` and `-`; any visible character; or nine letters and digits. The number is the maximum
 * length.
 */
export type CallIdRule = 'word64' | 'visible40' | 'visible64' | 'visible256' | 'nineChars'

/** The id mapping of each rule. */
export const legalIds: Readonly<Record<CallIdRule, (id: string) => string>> = {
  word64: legalId('a-zA-Z0-9_-', 64),
  visible40: legalId('\\x21-\\x7e', 40),
  visible64: legalId('\\x21-\\x7e', 64),
  visible256: legalId('!-~', 256),
  nineChars,
}

/** Maps ids to exactly nine letters and digits, as Mistral models require. Other ids are hashed. */
export function nineChars(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashText(id).padStart(9, '0').slice(-9)
}

const illegalInName = /[^a-zA-Z0-9_-]/g

/** Converts a tool name to at most 64 letters, digits, `_` and `-`, because a model can invent an invalid name. */
export function legalName(name: string): string {
  return name.replace(illegalInName, '_').slice(0, 64) || 'unknown'
}
