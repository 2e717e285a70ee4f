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
