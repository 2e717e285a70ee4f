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

describe('BlockReader', () => {
  it('preserves the text, however it is split', () => {
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

  it('reuses the objects of finished blocks', () => {
    const reader = new BlockReader()
    const [first] = reader.read('One.\n\nTwo')
    expect(reader.read('One.\n\nTwo, and more.')[0]).toBe(first)
    expect(reader.read('Another text.\n\nTwo')[0]).not.toBe(first)
  })

  it.each([
    ['lists', '- '.repeat(10_000)],
    ['quotes', '>'.repeat(10_000)],
    ['indented lists', Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n')],
    ['numbered lists', '1. '.repeat(50_000)],
    ['length', 'a\n'.repeat(150_000)],
  ])('returns one plain block if %s would be too slow', (_, text) => {
    expect(new BlockReader().read(text)).toEqual([{ kind: 'plain', raw: text }])
  })

  it.each([
    ['an item of many lines', `- a\n${'  b\n'.repeat(40_000)}`],
    ['a paragraph', 'word '.repeat(30_000)],
    ['a quote', '> a\n'.repeat(40_000)],
    ['a table', `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(20_000)}`],
  ])('parses in windows: %s that is very long becomes plain text', (_, long) => {
    const reader = new BlockReader()
    const kindsOf = (text: string) => reader.read(text).map(({ kind }) => kind)
    expect(kindsOf(`# One\n\n${long}`)).toEqual(['prose', 'plain'])
    expect(kindsOf(`# One\n\n${long}\n\n# Two\n\nThree`)).toEqual(['prose', 'plain', 'prose', 'prose'])
  })

  it('keeps code of any length in its block, also when more text follows', () => {
    const code = `${'const a = 1\n'.repeat(5000)}`
    const blocks = new BlockReader().read(`One\n\n\`\`\`ts\n${code}\`\`\`\n\nTwo`)
    expect(blocks).toMatchObject([{ kind: 'prose' }, { kind: 'code', language: 'ts', code: code.trimEnd() }, { kind: 'prose' }])
  })

  it('distinguishes rules from lists', () => {
    expect(new BlockReader().read(`a\n\n${'-'.repeat(60)}\n\nb`).map(({ kind }) => kind)).toEqual(['prose', 'prose', 'prose'])
  })
})
