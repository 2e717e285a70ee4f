import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileGlob } from '../../src/tools/search/glob.ts'

describe('compileGlob', () => {
  it.each([
    ['*.ts', 'a/b/c.ts', true],
    ['*.ts', 'c.tsx', false],
    ['*', '.hidden', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/b/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/b/c/a.ts', true],
    ['**/*.ts', 'a.ts', true],
    ['**/a.ts', 'xa.ts', false],
    ['**/a.ts', 'b/a.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/**', 'srcs/a', false],
    ['./src/*.ts', 'src/a.ts', true],
    ['a?c', 'abc', true],
    ['a?c', 'a🙂c', true],
    ['a/?', 'a/b', true],
    ['a?b/', 'a/b/', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[]]x', ']x', true],
    ['[a', '[a', true],
    ['*.{ts,tsx}', 'a.tsx', true],
    ['*.{ts,{js,mjs}}', 'a.mjs', true],
    ['{a}', '{a}', true],
    ['a.b', 'axb', false],
    ['(a+)+$', '(a+)+$', true],
    ['', 'a', false],
  ])('matches %j on %j: %s', (pattern, path, expected) => {
    expect(compileGlob(pattern)(path)).toBe(expected)
  })

  it('matches adversarial patterns in bounded time', () => {
    const isMatch = compileGlob(`${'*a'.repeat(300)}b`)
    expect(isMatch('a'.repeat(2000))).toBe(false)
    expect(compileGlob(`${'**/'.repeat(200)}x`)(`${'a/'.repeat(300)}y`)).toBe(false)
  })

  it('matches the worst pattern on the longest paths quickly', () => {
    const isMatch = compileGlob(`{a,b}{a,b}{a,b}${'*a'.repeat(80)}`)
    for (let index = 0; index < 50; index++) expect(isMatch(`${'a'.repeat(4000)}b`)).toBe(false)
  })

  it('limits pattern length and the number of alternatives', () => {
    expect(() => compileGlob('a'.repeat(1001))).toThrow(/longer/)
    expect(() => compileGlob('{a,b}'.repeat(10))).toThrow(/alternatives/)
    expect(compileGlob('a'.repeat(1000))('a'.repeat(1000))).toBe(true)
    expect(compileGlob('{a,b}'.repeat(6))('aaaaaa')).toBe(true)
    expect(() => compileGlob(`${'{a,b}'.repeat(6)}${'x'.repeat(100)}`)).toThrow(/parts/)
  })

  it('matches literal names and throws only its own errors', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9 ._()+$^|-]{1,20}$/), (name) => {
        expect(compileGlob(name)(`dir/${name}`)).toBe(true)
      }),
    )
    fc.assert(fc.property(fc.string(), fc.string(), (pattern, path) => typeof compileGlob(pattern)(path) === 'boolean'))
  })
})
