import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'
import { afterEach, describe, expect, it } from 'vitest'
import { findMutants } from '../../scripts/mutants/find-mutants.ts'
import { switchable } from '../../scripts/mutants/switchable.ts'

const source = `
const most = 100
function shorten(text, { limit = most, mark } = {}) {
  if (limit < 0) throw new RangeError('no such limit')
  const cut = text.length > limit && text !== 'whole'
  const seen = []
  seen.push(text.slice(0, limit).startsWith('a'))
  return { cut, mark: mark ?? '…', seen: [text.length, ...seen] }
}
`

const before = globalThis.phiMutants
afterEach(() => {
  globalThis.phiMutants = before
})

/** `shorten` with one mutant on, or none. */
function load(mutants: ReturnType<typeof findMutants>, index?: number) {
  globalThis.phiMutants = { of: () => (asked) => asked === index }
  return new Function(`${switchable('f.ts', source, mutants)}\nreturn shorten`)()
}

describe('mutation testing', () => {
  const mutants = findMutants('f.ts', source)
  const results = (shorten: (text: string, options?: object) => unknown) =>
    [
      () => shorten('abc'),
      () => shorten('abc', { limit: 3 }),
      () => shorten('bca', { limit: 1, mark: '' }),
      () => shorten('whole', { limit: 1, mark: '-' }),
      () => shorten('x'.repeat(150)),
      () => shorten('x'.repeat(300)),
      () => shorten('', { limit: -1 }),
      () => shorten('a', { limit: 0 }),
    ].map((call) => {
      try {
        return JSON.stringify(call())
      } catch (error) {
        return String(error)
      }
    })

  it('changes nothing while every mutant is inactive', () => {
    expect(results(load(mutants))).toEqual(results(new Function(`${source}\nreturn shorten`)()))
  })

  it('creates only mutants that change the results', () => {
    const right = JSON.stringify(results(load(mutants)))
    const same = mutants.filter(({ index }) => JSON.stringify(results(load(mutants, index))) === right)
    expect(same.map(({ kind, original, replacement }) => ({ kind, original, replacement }))).toEqual([])
    expect(new Set(mutants.map(({ kind }) => kind))).toEqual(
      new Set(['constant', 'condition', 'comparison', 'statement', 'logic', 'field', 'element', 'call']),
    )
  })

  it('records the correct position of each mutant', () => {
    const lines = source.split('\n')
    for (const { line, start, end, original } of mutants) {
      expect(source.slice(start, end)).toBe(original)
      expect(lines[line - 1]).toContain(original.split('\n')[0])
    }
  })

  it('keeps every source file parsable', () => {
    for (const file of globSync('{src,adapters}/**/*.ts')) {
      const text = readFileSync(file, 'utf8')
      expect(parseSync(file, switchable(file, text, findMutants(file, text))).errors, file).toEqual([])
    }
  })
})
