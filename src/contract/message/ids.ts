import { toHex } from '../hex.ts'

/** A new random identifier (UUID v4). Works in insecure browser contexts too, where `crypto.randomUUID` is missing. */
export function newId(): string {
  // In one piece: Node joins it of some twenty, and each id that is kept would keep them, 400 bytes and not 60.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID().toLowerCase()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Whether a value is an id, or a name, that may be stored with every message: some text, and not too long for a key. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 512
}
