import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/contract/errors.ts'
import { createLineDecoder } from '../../src/stream/lines.ts'

function linesOf(pieces: Iterable<Uint8Array>): string[] {
  const lines: string[] = []
  const decoder = createLineDecoder((line) => lines.push(line))
  for (const piece of pieces) decoder.feed(piece)
  decoder.end()
  return lines
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('lines', () => {
  it.each([
    ['LF', 'a\nb\n', ['a', 'b']],
    ['CRLF', 'a\r\nb\r\n', ['a', 'b']],
    ['an unterminated last line', 'a\nb', ['a', 'b']],
    ['blank lines', '\n\r\n a \n\n', ['a']],
    ['a BOM', '\ufeffa\n', ['a']],
    ['empty input', '', []],
  ])('decodes %s', (_what, text, expected) => {
    expect(linesOf([bytes(text)])).toEqual(expected)
  })

  it('decodes the same lines, however the bytes are split', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => JSON.stringify(text))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
        const all = bytes(lines.join('\n'))
        const pieces: Uint8Array[] = []
        for (let at = 0, n = 0; at < all.length; n++) {
          const end = at + (sizes[n % sizes.length] ?? 1)
          pieces.push(all.subarray(at, end))
          at = end
        }
        expect(linesOf(pieces)).toEqual(lines)
      }),
    )
  })

  it('rejects a line that never ends', () => {
    const decoder = createLineDecoder(() => undefined)
    const mebi = new Uint8Array(1024 * 1024).fill(97)
    expect(() => {
      for (let n = 0; n < 20; n++) decoder.feed(mebi)
    }).toThrow(ProviderError)
  })
})
