import type { JsonObject, JsonValue } from '../contract/json.ts'
import { toHex } from '../contract/message/identity.ts'

/**
 * CRC tables for the reversed polynomial 0xEDB88320: for each byte value, and for each byte value followed by one, two and three zero
 * bytes.
 */
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
 * Returns the unsigned CRC-32 (IEEE 802.3) of `bytes` from `start` (inclusive) to `end` (exclusive). `before` is the CRC of the preceding
 * bytes. Default: none.
 */
export function crc32(bytes: Uint8Array, start: number, end: number, before = 0): number {
  let rest = ~before
  let at = start
  // All reads in the loops are within bounds. The zero fallbacks only satisfy the type checker.
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

const initial = fractions(8, 1 / 2)
const constants = fractions(64, 1 / 3)

/**
 * Returns the SHA-256 (hex) of the UTF-8 form of `text`. Synchronous, and available on pages without https, where `crypto.subtle` is
 * missing.
 *
 * Source: FIPS 180-4 §6.2.
 */
export function sha256(text: string): string {
  return digested(new TextEncoder().encode(text))
}

/** Returns the SHA-256 (hex) of `bytes`. Uses WebCrypto if available, because it does not block the page. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const subtle: SubtleCrypto | undefined = crypto.subtle // missing on pages without https
  if (subtle === undefined) return digested(bytes)
  return toHex(new Uint8Array(await subtle.digest('SHA-256', bytes)))
}

/** Returns whether `hash` is the hash of `bytes`. */
export async function isBytesOf(hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  return (await sha256Of(bytes)) === hash
}

function digested(bytes: Uint8Array): string {
  const words = padded(bytes)
  const state = Int32Array.from(initial)
  const schedule = new Int32Array(64)
  for (let at = 0; at < words.length; at += 16) mix(state, schedule, words, at)
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Returns the padded message as 32-bit words: its bytes, a one bit, zeros, and the length in bits. */
function padded(bytes: Uint8Array): Int32Array {
  const words = new Int32Array(((bytes.length + 72) >>> 6) * 16)
  const view = new DataView(words.buffer)
  new Uint8Array(words.buffer).set(bytes)
  view.setUint8(bytes.length, 0x80)
  view.setUint32(words.length * 4 - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(words.length * 4 - 4, bytes.length << 3)
  // Convert big-endian words to the machine's byte order.
  for (let at = 0; at < words.length; at++) words[at] = view.getInt32(at * 4)
  return words
}

/** Mixes the sixteen words from `start` into `state`. All reads are within bounds. The zero fallbacks only satisfy the type checker. */
function mix(state: Int32Array, schedule: Int32Array, words: Int32Array, start: number): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let at = 0; at < 64; at++) {
    const next = at < 16 ? (words[start + at] ?? 0) : scheduled(schedule, at)
    schedule[at] = next
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (constants[at] ?? 0) + next) | 0
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] ?? 0) + word
}

function scheduled(schedule: Int32Array, at: number): number {
  const early = schedule[at - 15] ?? 0
  const late = schedule[at - 2] ?? 0
  const smallEarly = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
  const smallLate = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
  return ((schedule[at - 16] ?? 0) + smallEarly + (schedule[at - 7] ?? 0) + smallLate) | 0
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** Computes `prime ** exponent` for the first `count` primes, and returns the first 32 fractional bits of each result. */
function fractions(count: number, exponent: number): Int32Array {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  return Int32Array.from(primes, (prime) => ((prime ** exponent % 1) * 2 ** 32) | 0)
}

/** Hashes `args` as canonical JSON, which does not depend on key order. Returns the SHA-256 in hex. */
export function argumentsHash(args: JsonObject): string {
  return sha256(canonicalJson(args))
}

function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`
}
