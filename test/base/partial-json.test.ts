import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PartialJson, parsePartialJson } from '../../src/base/json/partial-json.ts'
import type { JsonValue } from '../../src/contract/json.ts'

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

const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2))
  .map(([value, indent]) => JSON.stringify(value, null, indent))

describe('JSON while it is written', () => {
  it('says the same as JSON.parse at the end, wherever it was cut', () => {
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

  it('any beginning of any JSON has a value that the whole one extends', () => {
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
  ])('%j says %j', (text, value) => expect(parsePartialJson(text)).toEqual(value))

  it.each(['{a: 1}', '[1,]', '{"a" 1}', '[1 2]', '{"a":1}}', 'tru e', '01,', '["\n"]', '["\\x"]', 'Sure! {"a": 1}', `${'['.repeat(300)}`])(
    '%j is no JSON',
    (text) => {
      const json = new PartialJson()
      json.push(text)
      json.push(' ')
      expect(json.isBroken).toBe(true)
    },
  )

  it('what is closed is shared, what is open is new', () => {
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

  it('a snapshot is made once, and the value grows in place', () => {
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

  it('snapshots say the same as values, wherever they are taken', () => {
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

  it('of thousands of open entries a snapshot may be a little behind, and is exact at the end', () => {
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

  it('of a beginning that nobody goes on with the last snapshot is exact', () => {
    const json = new PartialJson()
    json.push(`[${'1,'.repeat(5000)}`)
    json.snapshot()
    json.push('2,')
    expect(json.snapshot()).toHaveLength(5000)
    json.end()
    expect(json.snapshot()).toHaveLength(5001)
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
  ])('of %s there are %i whole elements', (text, count) => {
    const json = new PartialJson()
    json.push(text)
    expect(json.completeElements([])).toBe(count)
    const within = new PartialJson()
    within.push(`{"items": ${text}`)
    expect(within.completeElements(['items'])).toBe(count)
    expect(within.completeElements(['others'])).toBe(0)
  })
})
