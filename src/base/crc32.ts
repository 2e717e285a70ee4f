/** Remainders of all bytes for the reversed polynomial 0xEDB88320. */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest
})

/** CRC-32 (IEEE 802.3) of `bytes` from `start` (inclusive) to `end` (exclusive), unsigned. */
export function crc32(bytes: Uint8Array, start: number, end: number): number {
  let rest = 0xffffffff
  // Inside the loop both reads are within bounds; the zeros are for the type.
  for (let at = start; at < end; at++) rest = (rest >>> 8) ^ (table[(rest ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  return ~rest >>> 0
}
