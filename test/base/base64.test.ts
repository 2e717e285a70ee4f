import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toBase64 } from '../../src/base/base64.ts'

it('encodes like Buffer, also across chunk boundaries', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => toBase64(bytes) === Buffer.from(bytes).toString('base64')))
  const long = new Uint8Array(3 * 0x30000).map((_, at) => at * 7 + (at >> 8))
  for (const length of [0x2ffff, 0x30000, 0x30001, 0x30002, 0x60000, 0x60001, long.length]) {
    // A view that begins elsewhere than its buffer does.
    const bytes = long.subarray(1, length)
    expect(toBase64(bytes) === Buffer.from(bytes).toString('base64'), String(length)).toBe(true)
  }
})
