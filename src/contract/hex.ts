/** Bytes as hexadecimal digits, two of each. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The hexadecimal digits of this many random bytes. For what needs no UUID: `crypto.randomUUID` is missing on pages that were not loaded over https. */
export function randomHex(byteCount: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(byteCount)))
}
