import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/base/hash.ts'

const reference = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')

describe('sha256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq', '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1'],
  ])('hashes the published message %j', (text, expected) => {
    expect(sha256(text)).toBe(expected)
  })

  it('equals node:crypto at every length around a block', () => {
    for (let length = 0; length < 200; length++) expect(sha256('é'.repeat(length))).toBe(reference('é'.repeat(length)))
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(reference(text))
      }),
    )
  })

  it('hashes a long text', () => {
    const text = 'x'.repeat(3_000_001)
    expect(sha256(text)).toBe(reference(text))
  })
})
