/** Remainders of the reversed polynomial 0xEDB88320 of all bytes, then of all bytes with one, two and three zero bytes after them. */
const table = remainders()

function remainders(): Int32Array {
  const made = new Int32Array(4 * 256)
  for (let at = 0; at < made.length; at++) {
    let rest = at < 256 ? at : (made[at - 256] ?? 0)
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
    made[at] = rest
  }
  return made
}

/**
 * CRC-32 (IEEE 802.3) of `bytes` from `start` (inclusive) to `end` (exclusive), unsigned. `before` is that of what comes before them; default:
 * nothing does.
 */
export function crc32(bytes: Uint8Array, start: number, end: number, before = 0): number {
  let rest = ~before
  let at = start
  // Inside the loops all reads are within bounds; the zeros are for the type.
  for (; at + 3 < end; at += 4) {
    rest ^= (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
    rest =
      (table[768 | (rest & 0xff)] ?? 0) ^
      (table[512 | ((rest >>> 8) & 0xff)] ?? 0) ^
      (table[256 | ((rest >>> 16) & 0xff)] ?? 0) ^
      (table[rest >>> 24] ?? 0)
  }
  for (; at < end; at++) rest = (rest >>> 8) ^ (table[(rest ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  return ~rest >>> 0
}
