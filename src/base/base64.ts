/** `bytes` as base64, without a `data:` prefix. */
export function toBase64(bytes: Uint8Array): string {
  // In pieces: one call with millions of arguments overflows the stack. Divisible by 3, so that pieces join without padding.
  const pieceBytes = 0x6000
  let text = ''
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + pieceBytes)))
  }
  return text
}

/** Whether `text` is base64, whole and padded. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

/** Pieces of base64, each of which may have its own padding, as one; `undefined` where one of them is none. */
export function joinBase64(pieces: readonly string[]): string | undefined {
  if (pieces.slice(0, -1).every((piece) => piece.length % 4 === 0 && !piece.endsWith('='))) {
    const whole = pieces.join('')
    return isBase64(whole) ? whole : undefined
  }
  if (!pieces.every(isBase64)) return undefined
  const bytes = pieces.map((piece) => Uint8Array.from(atob(piece), (char) => char.charCodeAt(0)))
  const whole = new Uint8Array(bytes.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of bytes) {
    whole.set(piece, at)
    at += piece.length
  }
  return toBase64(whole)
}
