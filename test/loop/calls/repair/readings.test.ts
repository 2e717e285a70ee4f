import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseArguments } from '../../../../src/base/json/call-arguments.ts'
import { readingsOf } from '../../../../src/loop/calls/repair/readings.ts'
import { runs } from '../../../support/runs.ts'

/** Every object that `text` may mean; `undefined` where one of them says something else than it means. */
function objectsIn(text: string): unknown[] | undefined {
  const found = readingsOf(text).texts.map(parseArguments)
  return found.every(({ fault }) => fault === undefined) ? found.map((each) => each.fault ?? each.arguments) : undefined
}

describe('readingsOf', () => {
  it.each([
    ['cumulative fragments', '{"pa{"path":"a{"path":"a.ts"}', { path: 'a.ts' }],
    ['cumulative fragments with objects', '{"a"{"a":{"b":1},"c{"a":{"b":1},"c":2}', { a: { b: 1 }, c: 2 }],
    ['a complete repetition', '{"a":1}{"a":1}', { a: 1 }],
    ['three repetitions on separate lines', '{"a":1}\n{"a":1}\n{"a":1}', { a: 1 }],
    ['a leading empty object', '{}{"a":1}', { a: 1 }, {}],
    ['an empty object before cumulative fragments', '{}{"a"{"a":1}', { a: 1 }, {}],
    ['two leading empty objects', '{}{}', {}],
    ['line breaks and tabs inside strings', '{"a":"x\n\ty\r\n"}', { a: 'x\n\ty\r\n' }],
    ['regular expression escapes', String.raw`{"a":"\d+\.\w","b":1}`, { a: String.raw`\d+\.\w`, b: 1 }],
    ['path escapes', String.raw`{"a":"C:\Users\Public"}`, { a: String.raw`C:\Users\Public` }],
    ['escaped quotes next to an invalid escape', String.raw`{"a":"grep \"\d+\""}`, { a: String.raw`grep "\d+"` }],
    ['an extra closing brace', '{"a":{"b":1}}}', { a: { b: 1 } }],
    ['trailing commas', '{"a":[1,2,],"b":{"c":1,},}', { a: [1, 2], b: { c: 1 } }],
    ['a code fence', '```json\n{"a":1}\n```', { a: 1 }],
    ['a code fence in cumulative fragments', '```json```json\n{"a"```json\n{"a":1}\n```', { a: 1 }],
    ['an object that repeats its own beginning', '{"a":{"a":"x\ny"}}', { a: { a: 'x\ny' } }, { a: 'x\ny' }],
    ['several faults', '```\n{"a":"x\ny",}}\n```', { a: 'x\ny' }],
  ])('repairs malformed JSON: %s', (_name, text, ...meant) => {
    expect(objectsIn(text)).toEqual(meant)
  })

  it.each([
    ['truncated JSON', '{"a":{"a":1}'],
    ['truncated JSON after a fault', '{"a":{"a":1,}'],
    ['truncated cumulative fragments', '{"a"{"a":{"a":1}'],
    ['a truncated code fence', '```json\n{"a":1}'],
    ['an object truncated after an empty one', '{}{"a":1'],
    ['two objects', '{"a":1}{"a":2}'],
    ['two objects after an empty one', '{}{"a":1}{"b":1}'],
    ['a trailing empty object', '{"a":1}{}'],
    ['two extra braces', '{"a":1}}}'],
    ['a valid escape next to an invalid one', String.raw`{"a":"C:\temp\d"}`],
    ['a valid escape in another string', String.raw`{"a":"C:\temp","b":"\d"}`],
    ['a doubled backslash next to an invalid escape', String.raw`{"a":"\\server\docs"}`],
    ['a quote that may end its string', String.raw`{"a":"C:\d\",":1,"b":"\d"}`],
    ['a JavaScript escape', String.raw`{"a":"it\'s"}`],
    ['a character code escape', String.raw`{"a":"\x41"}`],
    ['a duplicate key', '{"a":1,"a":2,}'],
    ['a list', '[{"a":1},]'],
    ['text around the object', 'Here: {"a":1}'],
    ['an empty text', ' '],
  ])('returns no reading for %s', (_name, text) => {
    expect(objectsIn(text) ?? []).toEqual([])
  })

  const hostile = (size: number): string[] => [
    '{"a":'.repeat(size / 5),
    '{'.repeat(size),
    '{}'.repeat(size / 2),
    '{"a{"a'.repeat(size / 6),
    '{"a":1}'.repeat(size / 7),
    `${'{"a":"x",'.repeat(size / 9)}}`,
    '```'.repeat(size / 3),
    `{"a":"${'\\" '.repeat(size / 3)}\\d"}`,
    `{"a":"${'\n'.repeat(size)}"}${' '.repeat(size)}x`,
    '{ '.repeat(size / 2),
  ]

  it('parses a megabyte of hostile text within five seconds', () => {
    for (const text of hostile(999_000)) {
      const start = performance.now()
      readingsOf(text)
      expect(performance.now() - start, text.slice(0, 20)).toBeLessThan(5000)
    }
  })

  it('skips text longer than a megabyte', () => {
    expect(readingsOf(`{"a":"${'x'.repeat(1_000_000)}",}`)).toEqual({ texts: [], isOpen: false })
  })
})

// Few letters, so that objects hold their own beginnings, and strings look like JSON.
const aText = fc.string({
  unit: fc.constantFrom('a', '{', '}', '"', '\\', 'n', 'd', 't', '\n', '\t', ',', ':', '`', ' ', '[', '/', '('),
  maxLength: 8,
})
const aKey = fc.oneof(fc.constantFrom('a', 'b', '', '{', ',', ':'), aText)
const { object: anObject } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    aText,
    fc.integer(),
    fc.constantFrom(true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(aKey, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}))

/** Objects that hold what looks like themselves: half of one is a whole one. */
const nested = fc
  .tuple(aKey, fc.integer({ min: 1, max: 3 }), fc.oneof(fc.integer(), aText))
  .map(([key, levels, value]) =>
    Array.from({ length: levels }).reduce<Record<string, unknown>>((inner) => ({ [key]: inner }), { [key]: value }),
  )

/** Escapes that JSON does not know. Without one the text says what it says. */
const invalidEscape = /(?<!\\)(?:\\\\)*\\[^"\\/bfnrtu]/

/** Damages the text of one object, in this order. */
const local: Record<string, (json: string) => string> = {
  'raw line breaks and tabs': (json) => json.replace(/\\(\\|n|t)/g, (all, letter) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : all)),
  'invalid escapes': (json) => {
    const single = json.replaceAll('\\\\', '\\')
    return invalidEscape.test(single) ? single : json
  },
  'a trailing comma': (json) => json.replace(/(?<=[^{])\}$/, ',}'),
  'trailing commas': (json) => json.replace(/(?<=["\d\]}])(?=[\]}]+$)/, ','),
  'a brace too many': (json) => `${json}}`,
  'a fence': (json) => `\`\`\`json\n${json}\n\`\`\``,
}

/** Damages how it comes. `cuts` says where it is split. */
const framing: Record<string, (text: string, cuts: readonly number[]) => string> = {
  none: (text) => text,
  'cumulative fragments': (text, cuts) =>
    [...cuts.map((cut) => text.slice(0, 1 + (cut % text.length))).sort((a, b) => a.length - b.length), text].join(''),
  repetition: (text) => text + text,
  'an empty object first': (text) => `{}${text}`,
  'an empty object before cumulative fragments': (text, cuts) => `{}${framing['cumulative fragments']?.(text, cuts)}`,
}

it('returns the intended reading or none', () => {
  const accepted = new Set<string>()
  const damages = fc.subarray(Object.keys(local))
  const kinds = fc.constantFrom(...Object.keys(framing))
  const cuts = fc.array(fc.oneof(fc.nat(8), fc.nat(200)), { minLength: 1, maxLength: 4 })
  // Below zero: so far before the end.
  const end = fc.oneof(fc.constant(undefined), fc.integer({ min: -6, max: -1 }), fc.nat(200))
  fc.assert(
    fc.property(fc.oneof(anObject, nested), damages, kinds, cuts, end, (meant, names, kind, at, cut) => {
      const damaged = names.reduce((text, name) => local[name]?.(text) ?? text, JSON.stringify(meant))
      const whole = framing[kind]?.(damaged, at) ?? damaged
      const text = cut === undefined ? whole : whole.slice(0, cut)
      // What parses as it came wins, whatever was meant.
      if (parseArguments(text).fault === undefined) return
      const found = objectsIn(text)
      if (found === undefined || found.length === 0) return
      if (cut === undefined && found.length === 1) accepted.add(`${names.length < 2 ? names[0] : 'several'}, ${kind}`)
      expect(found).toContainEqual(JSON.parse(JSON.stringify(meant)))
    }),
    { numRuns: runs(4000, 400_000) },
  )
  // A repair that refuses everything would pass too.
  expect(accepted.size).toBeGreaterThan(20)
})
