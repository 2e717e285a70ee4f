import { byteLengthOf, isBase64 } from '../contract/message/media.ts'

/** By their value. */
export const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digits = new TextEncoder().encode(base64Digits)
const padding = 0x3d
/** Bytes that are written at a time: divisible by 3, so that pieces join without padding. */
const pieceBytes = 0x30000

/** `bytes` as base64, without a `data:` prefix. */
export function toBase64(bytes: Uint8Array): string {
  // Not by `btoa`, which wants a text of all bytes: that took ten times as long, and left much to collect.
  const piece = new Uint8Array(Math.ceil(Math.min(bytes.length, pieceBytes) / 3) * 4)
  const decoder = new TextDecoder()
  let text = ''
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    text += decoder.decode(piece.subarray(0, write(bytes, start, piece)))
  }
  return text
}

/** Writes what stands in `bytes` from `start` on into `piece`; returns how many characters that are. */
function write(bytes: Uint8Array, start: number, piece: Uint8Array): number {
  const end = Math.min(start + pieceBytes, bytes.length)
  let to = 0
  for (let at = start; at < end; at += 3) {
    const three = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    for (let shift = 18; shift >= 0; shift -= 6) piece[to++] = digits[(three >> shift) & 63] ?? 0
  }
  if (end % 3 !== 0) piece[to - 1] = padding
  if (end % 3 === 1) piece[to - 2] = padding
  return to
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

/** The bytes of base64 that was checked. */
export function bytesOfBase64(data: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLengthOf(data))
  // A piece at a time: a text of all bytes would be a copy more.
  const pieceChars = 0x40000
  for (let start = 0, at = 0; start < data.length; start += pieceChars) {
    const piece = atob(data.slice(start, start + pieceChars))
    for (let index = 0; index < piece.length; index++) bytes[at++] = piece.charCodeAt(index)
  }
  return bytes
}
