import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contentOf, fieldsOf } from '../../playground/src/tools/question-fields.ts'

function filled(pairs: [string, string][]): FormData {
  const data = new FormData()
  for (const [name, value] of pairs) data.append(name, value)
  return data
}

const schema = {
  properties: {
    count: { type: 'integer', minimum: 1, maximum: 6 },
    share: { type: 'number' },
    word: { type: 'string', maxLength: 5, title: 'A word', description: 'Short.' },
    size: { enum: [1, 2], enumNames: ['small', 'large'] },
    days: { type: 'array', items: { oneOf: [{ const: 'fri', title: 'Friday' }, { const: 'sat' }] } },
    isThere: { type: 'boolean' },
    more: { type: 'object' },
  },
  required: ['count', 'word'],
}

it('creates a field for each property and returns typed values', () => {
  const fields = fieldsOf({ schema })
  expect(fields.map(({ kind }) => kind)).toEqual(['number', 'number', 'text', 'one', 'several', 'check', 'json'])
  expect(fields.map(({ isNeeded }) => isNeeded)).toEqual([true, false, true, false, false, false, false])
  expect(fields[0]?.bounds).toEqual({ step: 1, min: 1, max: 6 })
  expect(fields[3]?.choices).toEqual([
    { value: 1, title: 'small' },
    { value: 2, title: 'large' },
  ])
  expect(fields[4]?.choices.map(({ title }) => title)).toEqual(['Friday', 'sat'])
  const given: [string, string][] = [
    ...([
      ['count', '4'],
      ['share', ''],
      ['word', ''],
      ['size', '1'],
      ['days', '0'],
      ['days', '1'],
      ['more', '{"a":1}'],
    ] as [string, string][]),
  ]
  expect(contentOf(fields, filled(given))).toEqual({ count: 4, word: '', size: 2, days: ['fri', 'sat'], isThere: false, more: { a: 1 } })
  expect(() => contentOf(fields, filled([['more', '{']]))).toThrow(SyntaxError)
  expect(fieldsOf({ schema, url: 'https://example.com' })).toEqual([])
})

it('accepts any server schema and returns only known names', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything()), fc.array(fc.tuple(fc.string(), fc.string())), (properties, pairs) => {
      const fields = fieldsOf({ schema: { properties } as never })
      try {
        const content = contentOf(fields, filled(pairs))
        for (const name of Object.keys(content)) expect(Object.keys(properties)).toContain(name)
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
      }
    }),
    { numRuns: 100 },
  )
})
