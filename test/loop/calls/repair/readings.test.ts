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
    ['cumulative fragments that hold objects', '{"a"{"a":{"b":1},"c{"a":{"b":1},"c":2}', { a: { b: 1 }, c: 2 }],
    ['a whole repetition', '{"a":1}{"a":1}', { a: 1 }],
    ['three repetitions on lines of their own', '{"a":1}\n{"a":1}\n{"a":1}', { a: 1 }],
    ['an empty object first', '{}{"a":1}', { a: 1 }, {}],
    ['an empty object before cumulative fragments', '{}{"a"{"a":1}', { a: 1 }, {}],
    ['an empty object twice', '{}{}', {}],
    ['line breaks and tabs inside strings', '{"a":"x\n\ty\r\n"}', { a: 'x\n\ty\r\n' }],
    ['escapes of a regular expression', String.raw`{"a":"\d+\.\w","b":1}`, { a: String.raw`\d+\.\w`, b: 1 }],
    ['escapes of a path', String.raw`{"a":"C:\Users\Public"}`, { a: String.raw`C:\Users\Public` }],
    ['escaped quotes beside an invalid escape', String.raw`{"a":"grep \"\d+\""}`, { a: String.raw`grep "\d+"` }],
    ['a closing brace too many', '{"a":{"b":1}}}', { a: { b: 1 } }],
    ['trailing commas', '{"a":[1,2,],"b":{"c":1,},}', { a: [1, 2], b: { c: 1 } }],
    ['a code fence', '```json\n{"a":1}\n```', { a: 1 }],
    ['a code fence in cumulative fragments', '```json```json\n{"a"```json\n{"a":1}\n```', { a: 1 }],
    ['an object that repeats its own beginning', '{"a":{"a":"x\ny"}}', { a: { a: 'x\ny' } }, { a: 'x\ny' }],
    ['several damages', '```\n{"a":"x\ny",}}\n```', { a: 'x\ny' }],
  ])('reads %s', (_name, text, ...meant) => {
    expect(objectsIn(text)).toEqual(meant)
  })

  it.each([
    ['what is cut', '{"a":{"a":1}'],
    ['what is cut behind a damage', '{"a":{"a":1,}'],
    ['cumulative fragments that are cut', '{"a"{"a":{"a":1}'],
    ['a code fence that is cut', '```json\n{"a":1}'],
    ['an object that is cut behind an empty one', '{}{"a":1'],
    ['two objects', '{"a":1}{"a":2}'],
    ['two objects behind an empty one', '{}{"a":1}{"b":1}'],
    ['an empty object at the end', '{"a":1}{}'],
    ['two braces too many', '{"a":1}}}'],
    ['an escape that JSON knows beside one that it does not', String.raw`{"a":"C:\temp\d"}`],
    ['such an escape in another string', String.raw`{"a":"C:\temp","b":"\d"}`],
    ['a doubled backslash beside an invalid escape', String.raw`{"a":"\\server\docs"}`],
    ['a quote that may end its string', String.raw`{"a":"C:\d\",":1,"b":"\d"}`],
    ['an escape of JavaScript', String.raw`{"a":"it\'s"}`],
    ['a code of a character', String.raw`{"a":"\x41"}`],
    ['a key that comes twice', '{"a":1,"a":2,}'],
    ['a list', '[{"a":1},]'],
    ['text around the object', 'Here: {"a":1}'],
    ['no text', ' '],
  ])('refuses %s', (_name, text) => {
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

  it('finishes in seconds for a megabyte of hostile text', () => {
    for (const text of hostile(999_000)) {
      const start = performance.now()
      readingsOf(text)
      expect(performance.now() - start, text.slice(0, 20)).toBeLessThan(5000)
    }
  })

  it('leaves longer text alone', () => {
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

it('finds the intended reading or none', () => {
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
