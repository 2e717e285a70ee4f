import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { argumentsFault, parseArguments } from '../../src/base/json/call-arguments.ts'

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('parseArguments', () => {
  it.each([
    ['an overflowing number', '{"n":1e400}', 'a number that is too large'],
    ['an overflowing negative number', '{"n":[-1e400]}', 'a number that is too large'],
    ['minus zero', '{"n":-0}', 'the number -0; write 0'],
    ['a negative number that underflows', '{"n":-1e-400}', 'the number -0; write 0'],
    ['a duplicate key', '{"path":"a","path":"b"}', 'a duplicate key'],
    ['a duplicate key, once escaped', '{"path":"a","p\\u0061th":"b"}', 'a duplicate key'],
    ['a nested duplicate key', '{"list":[{"x":{"a":1,"a":1}}]}', 'a duplicate key'],
    ['a duplicate __proto__', '{"__proto__":1,"__proto__":2}', 'a duplicate key'],
    ['a lone surrogate', '{"path":"\\ud800"}', 'half of a surrogate pair'],
    ['a lone surrogate in a key', '{"\\udc00":1}', 'half of a surrogate pair'],
    ['too many levels', nested(201), 'nested more than 200 levels deep'],
    ['very many levels', nested(100_000), 'nested more than 200 levels deep'],
    ['very many lists', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'nested more than 200 levels deep'],
    ['a list', '[1]', 'not a JSON object'],
    ['a string', '"a"', 'not a JSON object'],
    ['an empty string', '""', 'not a JSON object'],
    ['an object in a string with a duplicate key', JSON.stringify('{"a":1,"a":2}'), 'a duplicate key'],
    ['a truncated object in a string', JSON.stringify('{"a":'), 'cut off before their end'],
    ['a truncated object', '{"a":', 'cut off before their end'],
  ])('rejects %s', (_, text, fault) => {
    expect(parseArguments(text)).toEqual({ fault })
  })

  it.each([
    ['null', {}],
    [JSON.stringify('{"a":"\\"b"}'), { a: '"b' }],
    ['{}', {}],
    [' {"a":":\\"{:","b":["\\\\",":"]} ', { a: ':"{:', b: ['\\', ':'] }],
    ['{"n":-0.5,"big":1e300,"zero":0.0,"pair":"\\ud83d\\ude00"}', { n: -0.5, big: 1e300, zero: 0, pair: '😀' }],
    [nested(200), JSON.parse(nested(200))],
  ])('accepts %s', (text, expected) => {
    expect(parseArguments(text)).toEqual({ arguments: expected })
  })

  it('keeps __proto__ as an own property', () => {
    const parsed = parseArguments('{"__proto__":{"isAdmin":true}}')
    expect(Object.keys(parsed.fault === undefined ? parsed.arguments : {})).toEqual(['__proto__'])
  })

  it('parses any representable JSON object without changing it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' })), (value) => {
        const text = JSON.stringify(value)
        const parsed = parseArguments(text)
        if (parsed.fault === undefined) expect(JSON.stringify(parsed.arguments)).toBe(text)
        expect(parsed.fault).toBe(argumentsFault(JSON.parse(text)))
      }),
    )
  })

  it.each<[unknown]>([[undefined], [1n], [() => 1], [new Date(0)], [new Map()], [Number.NaN], [Symbol('s')], [Object.create({ a: 1 })]])(
    'rejects a value that JSON cannot represent: %s',
    (value) => {
      expect(argumentsFault({ value })).toBeTypeOf('string')
    },
  )
})
