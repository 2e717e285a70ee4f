import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { argumentsFault, parseArguments } from '../../src/base/json/call-arguments.ts'

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('the arguments of a call as they were written', () => {
  it.each([
    ['an overflowing number', '{"n":1e400}', 'a number that is too large'],
    ['an overflowing number below zero', '{"n":[-1e400]}', 'a number that is too large'],
    ['minus zero', '{"n":-0}', 'the number -0; write 0'],
    ['minus zero that is a small number', '{"n":-1e-400}', 'the number -0; write 0'],
    ['a key that comes twice', '{"path":"a","path":"b"}', 'a key comes twice'],
    ['a key that comes twice, once escaped', '{"path":"a","p\\u0061th":"b"}', 'a key comes twice'],
    ['a key that comes twice, deep down', '{"list":[{"x":{"a":1,"a":1}}]}', 'a key comes twice'],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}', 'a key comes twice'],
    ['half of a surrogate pair', '{"path":"\\ud800"}', 'half of a surrogate pair'],
    ['half of a surrogate pair in a key', '{"\\udc00":1}', 'half of a surrogate pair'],
    ['too many levels', nested(201), 'nested more than 200 levels deep'],
    ['very many levels', nested(100_000), 'nested more than 200 levels deep'],
    ['very many lists', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'nested more than 200 levels deep'],
    ['a list', '[1]', 'not a JSON object'],
    ['a text', '"a"', 'not a JSON object'],
    ['a text without a word', '""', 'not a JSON object'],
    ['an object in a text, with a key that comes twice', JSON.stringify('{"a":1,"a":2}'), 'a key comes twice'],
    ['an object in a text that was cut off', JSON.stringify('{"a":'), 'cut off before their end'],
    ['what was cut off', '{"a":', 'cut off before their end'],
  ])('%s is refused', (_, text, fault) => {
    expect(parseArguments(text)).toEqual({ fault })
  })

  it.each([
    ['null', {}],
    [JSON.stringify('{"a":"\\"b"}'), { a: '"b' }],
    ['{}', {}],
    [' {"a":":\\"{:","b":["\\\\",":"]} ', { a: ':"{:', b: ['\\', ':'] }],
    ['{"n":-0.5,"big":1e300,"zero":0.0,"pair":"\\ud83d\\ude00"}', { n: -0.5, big: 1e300, zero: 0, pair: '😀' }],
    [nested(200), JSON.parse(nested(200))],
  ])('%s is taken', (text, expected) => {
    expect(parseArguments(text)).toEqual({ arguments: expected })
  })

  it('keeps a member called __proto__ as a member', () => {
    const parsed = parseArguments('{"__proto__":{"isAdmin":true}}')
    expect(Object.keys(parsed.fault === undefined ? parsed.arguments : {})).toEqual(['__proto__'])
  })

  it('takes every JSON object whose text says what it means, and gives back that object', () => {
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
    'a value that JSON does not have: %s',
    (value) => {
      expect(argumentsFault({ value })).toBeTypeOf('string')
    },
  )
})
