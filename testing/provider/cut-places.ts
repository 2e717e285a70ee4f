import { seededRandom } from '../fault-fetch.ts'

/** Distance from a frame boundary within which every byte is tested. */
const margin = 2

/**
 * Returns the offsets at which a recorded response is cut, in ascending order. If the response has at most `count` bytes, returns every
 * offset. Otherwise, returns `count` seeded offsets, the offsets around frame boundaries, and the offsets inside multibyte characters.
 */
export function cutPlaces(bytes: Uint8Array, count: number): number[] {
  if (bytes.length <= count) return Array.from(bytes, (_, at) => at)
  const random = seededRandom(bytes.length)
  const seeded = Array.from({ length: count }, () => Math.floor(random() * bytes.length))
  const near = [0, ...frameBorders(bytes), bytes.length].flatMap((border) =>
    Array.from({ length: 2 * margin + 1 }, (_, at) => border - margin + at),
  )
  const chosen = new Set([...seeded, ...near, ...insideCharacters(bytes)].filter((at) => at >= 0 && at < bytes.length))
  return [...chosen].sort((left, right) => left - right)
}

/** The first byte of a binary frame is the most significant byte of its length, and no frame is that long. */
function isBinary(bytes: Uint8Array): boolean {
  return bytes[0] === 0
}

/** Returns where frames end: by the lengths of binary frames, after blank lines in an event stream, or after lines. */
function frameBorders(bytes: Uint8Array): number[] {
  if (isBinary(bytes)) return binaryBorders(bytes)
  // Latin-1 keeps one character per byte, so an index is an offset.
  const text = new TextDecoder('latin1').decode(bytes)
  const ends = (pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match.index + match[0].length)
  const blankLines = ends(/(?:\r\n|\n|\r){2}/g)
  return blankLines.length > 0 ? blankLines : ends(/\r\n|\n|\r/g)
}

function binaryBorders(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const borders: number[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    // A damaged length must not stall the loop.
    at += Math.max(4, view.getUint32(at))
    borders.push(at)
  }
  return borders
}

function insideCharacters(bytes: Uint8Array): number[] {
  return isBinary(bytes) ? [] : [...bytes].flatMap((byte, at) => ((byte & 0xc0) === 0x80 ? [at] : []))
}
