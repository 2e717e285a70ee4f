import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PartialJson, parsePartialJson } from '../../src/base/json/partial-json.ts'
import type { JsonValue } from '../../src/contract/json.ts'
import { runs } from '../support/runs.ts'

/** Whether `later` says all that `earlier` said, and goes on from there. */
function extendsIt(earlier: unknown, later: unknown): boolean {
  if (earlier === undefined) return true
  if (typeof earlier === 'string') return typeof later === 'string' && later.startsWith(earlier)
  if (typeof earlier !== 'object' || earlier === null) return Object.is(earlier, later)
  if (Array.isArray(earlier)) return Array.isArray(later) && earlier.every((each, at) => at < later.length && extendsIt(each, later[at]))
  return (
    typeof later === 'object' &&
    later !== null &&
    Object.entries(earlier).every(([key, each]) => Object.hasOwn(later, key) && extendsIt(each, Reflect.get(later, key)))
  )
}

/** By text, which is quick: a difference of megabytes need not be told. */
const isSame = (value: unknown, other: unknown): boolean => JSON.stringify(value) === JSON.stringify(other)

const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2))
  .map(([value, indent]) => JSON.stringify(value, null, indent))

describe('PartialJson', () => {
  it('equals JSON.parse at the end, wherever the text was split', () => {
    fc.assert(
      fc.property(spaced, fc.array(fc.nat(200), { maxLength: 12 }), (text, cuts) => {
        const json = new PartialJson()
        let seen: JsonValue | undefined
        const places = [...new Set([...cuts.map((cut) => cut % (text.length + 1)), 0, text.length])].sort((a, b) => a - b)
        for (const [at, place] of places.entries()) {
          json.push(text.slice(places[at - 1] ?? 0, place))
          const now = json.value
          expect(extendsIt(seen, now), `${JSON.stringify(seen)} → ${JSON.stringify(now)}`).toBe(true)
          seen = structuredClone(now)
        }
        json.end()
        expect(json.isBroken).toBe(false)
        expect(json.value).toEqual(JSON.parse(text))
        expect(json.isComplete).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('parses any prefix to a value that the full text extends', () => {
    fc.assert(
      fc.property(spaced, fc.nat(300), (text, cut) => {
        expect(extendsIt(parsePartialJson(text.slice(0, cut).replace(/[-\d.eE+]+$/, '')), JSON.parse(text))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['{"a": 1, "b": "he', { a: 1, b: 'he' }],
    ['{"a": 12', {}],
    ['{"a": 12,', { a: 12 }],
    ['{"a": tr', {}],
    ['{"ke', {}],
    ['{"key":', {}],
    ['[1, 2, [3', [1, 2, []]],
    ['["a\\', ['a']],
    ['["a\\u00', ['a']],
    ['["\\ud83d', ['']],
    ['["\\ud83d\\ude00', ['😀']],
    ['"root', 'root'],
    ['42', 42],
    ['', undefined],
    ['  ', undefined],
    ['{"__proto__": {"x": 1', JSON.parse('{"__proto__": {}}')],
  ])('parses %j as %j', (text, value) => expect(parsePartialJson(text)).toEqual(value))

  it.each(['{a: 1}', '[1,]', '{"a" 1}', '[1 2]', '{"a":1}}', 'tru e', '01,', '["\n"]', '["\\x"]', 'Sure! {"a": 1}', `${'['.repeat(300)}`])(
    'rejects %j',
    (text) => {
      const json = new PartialJson()
      json.push(text)
      json.push(' ')
      expect(json.isBroken).toBe(true)
    },
  )

  it('shares closed values between snapshots and copies open ones', () => {
    const json = new PartialJson()
    json.push('{"done": {"a": 1}, "list": ["x')
    const before = json.snapshot() as { done: object; list: string[] }
    json.push('y", "z')
    const after = json.snapshot() as { done: object; list: string[] }
    expect(before).toEqual({ done: { a: 1 }, list: ['x'] })
    expect(after).toEqual({ done: { a: 1 }, list: ['xy', 'z'] })
    expect(after.done).toBe(before.done)
    expect(after).not.toBe(before)
  })

  it('caches a snapshot while the value grows in place', () => {
    const json = new PartialJson()
    json.push('{"list": ["x')
    const [value, snapshot] = [json.value, json.snapshot()]
    expect(json.snapshot()).toBe(snapshot)
    json.push('y"')
    expect(json.value).toBe(value)
    expect(value).toEqual({ list: ['xy'] })
    expect(snapshot).toEqual({ list: ['x'] })
    const whole = json.snapshot()
    json.push(']} ')
    expect(json.snapshot()).toBe(whole)
  })

  it('returns snapshots equal to the value at every position', () => {
    fc.assert(
      fc.property(spaced, fc.integer({ min: 1, max: 9 }), (text, size) => {
        const json = new PartialJson()
        const taken: { snapshot: JsonValue | undefined; copy: JsonValue | undefined }[] = []
        for (let at = 0; at < text.length; at += size) {
          json.push(text.slice(at, at + size))
          taken.push({ snapshot: json.snapshot(), copy: structuredClone(json.value) })
        }
        json.end()
        taken.push({ snapshot: json.snapshot(), copy: JSON.parse(text) })
        for (const { snapshot, copy } of taken) expect(snapshot).toEqual(copy)
      }),
      { numRuns: 500 },
    )
  })

  it('copies rarely for thousands of open entries, and ends exact', () => {
    const json = new PartialJson()
    const numbers = Array.from({ length: 20_000 }, (_, at) => at)
    const pieces = JSON.stringify(numbers).match(/.{1,7}/g) ?? []
    let copies = 0
    let last: unknown
    for (const piece of pieces) {
      json.push(piece)
      const now = json.snapshot() as number[]
      if (now !== last) copies += 1
      last = now
      // Half a character for each of them, of numbers that take four or more.
      expect(json.completeElements([]) - now.length).toBeLessThanOrEqual(Math.ceil(now.length / 2 / 4) + 2)
    }
    expect(copies).toBeLessThan(pieces.length / 10)
    expect(json.snapshot()).toEqual(numbers)
  })

  it('returns an exact last snapshot after end', () => {
    const json = new PartialJson()
    json.push(`[${'1,'.repeat(5000)}`)
    json.snapshot()
    json.push('2,')
    expect(json.snapshot()).toHaveLength(5000)
    json.end()
    expect(json.snapshot()).toHaveLength(5001)
  })

  const many = runs(100_000, 1_000_000)
  it.each<[string, string, unknown]>([
    ['a repeated key', `{${'"a":1,'.repeat(many)}"a":2}`, { a: 2 }],
    ['prototype keys', `{${'"__proto__":{"x":1},"constructor":[],'.repeat(many / 4)}"z":0}`, undefined],
    ['escapes', `["${'\\u0041\\n'.repeat(many)}"]`, undefined],
    ['escaped lone surrogates', `["${'\\ud83d'.repeat(many)}"]`, undefined],
    ['unescaped lone surrogates', `["${'\udc00\ud83d'.repeat(many)}"]`, undefined],
    ['white space', `[${' '.repeat(10 * many)}1]`, [1]],
    ['a long list', `[${'0,'.repeat(2 * many)}1]`, undefined],
    ['lists of maximum depth', `${'['.repeat(200)}${']'.repeat(200)}`, undefined],
  ])('parses %s like JSON.parse, whole or in pieces', (_name, text, value) => {
    const meant = value ?? JSON.parse(text)
    const whole = new PartialJson()
    whole.push(text)
    expect(isSame(whole.value, meant)).toBe(true)
    const json = new PartialJson()
    const step = Math.ceil(text.length / 50)
    for (let at = 0; at < text.length; at += step) {
      json.push(text.slice(at, at + step))
      json.snapshot()
    }
    expect([json.isBroken, json.isComplete, isSame(json.value, meant), isSame(json.snapshot(), meant)]).toEqual([false, true, true, true])
    expect(Reflect.get({}, 'x')).toBeUndefined()
  })

  it.each([
    ['lists', '['.repeat(5 * many)],
    ['objects', '{"a":'.repeat(many)],
    ['closed lists', `${'['.repeat(many)}${']'.repeat(many)}`],
    ['lists after many others', `[${'[],'.repeat(1000)}${'['.repeat(300)}${']'.repeat(301)}`],
    ['an endless number', '1'.repeat(10 * many)],
  ])('stops at %s beyond its limits and keeps the parsed part', (_name, text) => {
    for (const pieces of [[text], [text.slice(0, 150), text.slice(150)]]) {
      const json = new PartialJson()
      for (const piece of pieces) json.push(piece)
      expect(json.isBroken).toBe(true)
      expect(() => structuredClone(json.snapshot())).not.toThrow()
      const before = json.snapshot()
      json.push(']]]]')
      expect(json.snapshot()).toBe(before)
    }
  })

  it.each([
    ['[', 0],
    ['["a', 0],
    ['["a"', 1],
    ['["a", ', 1],
    ['["a", {"b": 1', 1],
    ['["a", {"b": 1}', 2],
    ['[1, 2', 1],
    ['[1, 2]', 2],
    ['[[1], [', 1],
  ])('counts the complete elements of %s: %i', (text, count) => {
    const json = new PartialJson()
    json.push(text)
    expect(json.completeElements([])).toBe(count)
    const within = new PartialJson()
    within.push(`{"items": ${text}`)
    expect(within.completeElements(['items'])).toBe(count)
    expect(within.completeElements(['others'])).toBe(0)
  })
})
