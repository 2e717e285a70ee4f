import { toHex } from '../../../src/contract/message/identity.ts'
import { kind, type Shape } from '../../../src/contract/shape/shape.ts'

/** Minimum length of a key in characters. */
const minKey = 32

/** Shape of a signing key. */
export const signingKey: Shape = kind(
  `a text of at least ${minKey} random characters`,
  (value) => typeof value === 'string' && value.length >= minKey,
)

/** Returns the HMAC-SHA256 of a text, as hex. */
export async function signatureOf(text: string, key: string): Promise<string> {
  const signature = await crypto.subtle.sign('HMAC', await keyOf(key, 'sign'), new TextEncoder().encode(text))
  return toHex(new Uint8Array(signature))
}

/** Returns whether `hex` is a text's valid signature with one of these keys. Compares in constant time. Rejects if a key is empty. */
export async function isSigned(text: string, hex: string, keys: string | readonly string[]): Promise<boolean> {
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  let isOurs = false
  for (const key of typeof keys === 'string' ? [keys] : keys) {
    const fits = await crypto.subtle.verify('HMAC', await keyOf(key, 'verify'), signature, new TextEncoder().encode(text))
    isOurs ||= fits
  }
  return isOurs
}

function keyOf(key: string, use: 'sign' | 'verify'): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', new TextEncoder().encode(key), { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}
