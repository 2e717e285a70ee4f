import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linearPattern } from '../../src/validation/linear-pattern.ts'
import { patternFault } from '../../src/validation/pattern-fault.ts'
import { runs } from '../support/runs.ts'

function occurs(source: string, text: string, most = 1_000_000): boolean {
  const pattern = linearPattern(source)
  let steps = 0
  return pattern.occursIn(text, (taken) => {
    steps += taken
    if (steps > most) throw new RangeError('too many steps')
  })
}

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\d',
  '\\w',
  '\\s',
  '\\S',
  '\\p{L}',
  '\\u{61}',
  '\\x62',
  '\\n',
  '\\.',
  'é',
  '🙂',
)
// V8 finds `\B` in the middle of a surrogate pair, where there is no place.
const assertion = fc.constantFrom('^', '$', '\\b')
const times = fc.constantFrom('', '*', '+', '?', '*?', '+?', '??', '{2}', '{0}', '{1,2}', '{0,3}', '{1,}', '{2,}?')
const { pattern } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
  term: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(atom, times).map((each) => each.join('')),
    assertion,
    fc.tuple(fc.constantFrom('(', '(?:'), tie('pattern'), times).map(([open, inside, many]) => `${open}${inside})${many}`),
  ),
  pattern: fc
    .array(
      fc.array(tie('term'), { maxLength: 4 }).map((each) => each.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((each) => each.join('|')),
}))
const text = fc
  .array(fc.constantFrom('a', 'b', '1', '.', ' ', '\n', 'é', '🙂', '\ud83d', 'c'), { maxLength: 8 })
  .map((each) => each.join(''))

describe('linearPattern', () => {
  it('matches like RegExp', () => {
    let found = 0
    fc.assert(
      fc.property(pattern, text, (source, each) => {
        // The engine of the language takes very long for some that are longer.
        fc.pre(source.length < 30 && patternFault(source) === undefined)
        const expected = new RegExp(source, 'u').test(each)
        expect(occurs(source, each), `/${source}/ in ${JSON.stringify(each)}`).toBe(expected)
        if (expected) found += 1
      }),
      { numRuns: runs(2000, 50_000) },
    )
    expect(found).toBeGreaterThan(1_000)
  })

  it.each([
    ['^(a+)+$', 'a'.repeat(2_000)],
    ['^(a|a)*$', 'a'.repeat(2_000)],
    ['^(?:a?){30}a{30}$', 'a'.repeat(2_000)],
    [`^${'a?'.repeat(30)}${'a'.repeat(30)}$`, 'a'.repeat(29)],
    [`^${'(?:a|a)'.repeat(30)}$`, 'a'.repeat(30)],
    [`^${'a{0,99}'.repeat(10)}$`, 'a'.repeat(98)],
    ['^(?:[a-z]+.?)*@', 'a'.repeat(2_000)],
    ['a+$', 'a'.repeat(10_000)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(1_000)],
  ])('matches in steps linear in the text: %s', (source, each) => {
    expect(occurs(source, `${each}!`, 3_000_000)).toBe(false)
  })

  it.each([
    '(?=a)b',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(?:a{999}){3}',
    '(((?:){2000}){2000}){2000}',
    '(?:a{0}){3000}',
    '(',
    'a{9999999}b*c*',
  ])('rejects a pattern without a linear bound: %s', (source) => {
    expect(() => linearPattern(source)).toThrow(/Unsupported pattern/)
  })

  it('supports non-word-boundary assertions', () => {
    expect([occurs('^a\\Bb', 'ab'), occurs('a\\B', 'a '), occurs('\\B', '')]).toEqual([true, false, true])
  })

  it('supports large counts if they cost nothing', () => {
    expect(occurs('^[^]{1,10000}$', 'x'.repeat(10_000))).toBe(true)
    expect(occurs('^[^]{1,10000}$', 'x'.repeat(10_001))).toBe(false)
  })
})
