import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockReader } from '../../playground/src/markdown/blocks.ts'

const pieces = [
  'a',
  ' b\n',
  '\n\n',
  '- x\n',
  '> q\n',
  '```ts\n',
  '```\n',
  '# h\n',
  '|a|b|\n|-|-|\n',
  '|1|2|\n',
  '1. y\n',
  '    z\n',
  '---\n',
  '**',
  '[l](x)',
  '\r\n',
  '<b>',
]
const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 })

describe('the blocks of a growing text', () => {
  it('lose nothing of it, however it comes', () => {
    fc.assert(
      fc.property(texts, (parts) => {
        const reader = new BlockReader()
        let text = ''
        for (const part of parts) {
          text += part
          const joined = reader
            .read(text)
            .map(({ raw }) => raw)
            .join('')
          expect(joined.replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
        }
      }),
    )
  })

  it('that are settled stay the same objects', () => {
    const reader = new BlockReader()
    const [first] = reader.read('One.\n\nTwo')
    expect(reader.read('One.\n\nTwo, and more.')[0]).toBe(first)
    expect(reader.read('Another text.\n\nTwo')[0]).not.toBe(first)
  })

  it.each([
    ['lists', '- '.repeat(10_000)],
    ['quotes', '>'.repeat(10_000)],
    ['indented lists', Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n')],
    ['length', 'a\n'.repeat(150_000)],
  ])('are one plain block where %s would take too long', (_, text) => {
    expect(new BlockReader().read(text)).toEqual([{ kind: 'plain', raw: text }])
  })

  it('know rules from lists', () => {
    expect(new BlockReader().read(`a\n\n${'-'.repeat(60)}\n\nb`).map(({ kind }) => kind)).toEqual(['prose', 'prose', 'prose'])
  })
})
