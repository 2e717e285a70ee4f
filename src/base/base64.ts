import { byteLengthOf, isBase64 } from '../contract/message/media.ts'

/** Base64 digits by value. */
export const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digits = new TextEncoder().encode(base64Digits)
const padding = 0x3d

/** Base64 methods of newer platforms. */
interface OwnBase64 {
  toBase64?(): string
}

/** Encodes `bytes` as base64, without a `data:` prefix. */
export function toBase64(bytes: Uint8Array & OwnBase64): string {
  if (typeof bytes.toBase64 === 'function') return bytes.toBase64()
  // Encode in one piece, because engines copy a concatenated string on first access and keep its parts in memory until then.
  const written = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  write(bytes, written)
  const text = new TextDecoder().decode(written)
  discard(written.buffer)
  return text
}

/** Frees a buffer immediately if the platform supports it. Otherwise, a large file is in memory twice until garbage collection. */
function discard(buffer: ArrayBuffer & { transfer?(length: number): ArrayBuffer }): void {
  if (typeof buffer.transfer === 'function') buffer.transfer(0)
}

function write(bytes: Uint8Array, written: Uint8Array): void {
  let to = 0
  for (let at = 0; at < bytes.length; at += 3) {
    const three = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    for (let shift = 18; shift >= 0; shift -= 6) written[to++] = digits[(three >> shift) & 63] ?? 0
  }
  if (bytes.length % 3 !== 0) written[to - 1] = padding
  if (bytes.length % 3 === 1) written[to - 2] = padding
}

/** Joins base64 pieces. Each piece may have padding. Returns `undefined` if a piece is invalid. */
export function joinBase64(pieces: readonly string[]): string | undefined {
  if (pieces.slice(0, -1).every((piece) => piece.length % 4 === 0 && !piece.endsWith('='))) {
    const whole = pieces.join('')
    return isBase64(whole) ? whole : undefined
  }
  if (!pieces.every(isBase64)) return undefined
  const bytes = pieces.map(bytesOfBase64)
  const whole = new Uint8Array(bytes.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of bytes) {
    whole.set(piece, at)
    at += piece.length
  }
  return toBase64(whole)
}

/** Decodes validated base64. */
export function bytesOfBase64(data: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLengthOf(data))
  // Decode in small pieces, which the garbage collector frees early. A single binary string would be another full copy.
  const pieceChars = 0x8000
  for (let start = 0, at = 0; start < data.length; start += pieceChars) {
    const piece = atob(data.slice(start, start + pieceChars))
    for (let index = 0; index < piece.length; index++) bytes[at++] = piece.charCodeAt(index)
  }
  return bytes
}

/** Concatenates byte arrays. */
export function joinedBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
