import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { withPureCalls } from '../../scripts/build/pure-calls.ts'

/** What a bundler keeps of a module of which nothing is used. */
async function keptOf(code: string): Promise<string> {
  const { outputFiles } = await build({ stdin: { contents: code }, bundle: true, format: 'esm', write: false, treeShaking: true })
  return (outputFiles[0]?.text ?? '').replace(/^\/\/.*$/gm, '').trim()
}

describe('withPureCalls', () => {
  it.each([
    ['a call', 'const shape = make({ a: 1 })'],
    ['a table spread from another', 'const more = { ...fields, a: 1 }'],
    ['a call with part of a table', 'const shape = make({ ...fields })'],
    ['a property', 'const words = shape.words'],
    ['the rest of a table', 'const { a: _a, ...rest } = fields'],
    ['destructured names', 'const { a, b: other } = fields'],
  ])('lets the bundler drop unused code: %s', async (_name, code) => {
    const around = 'const fields = { a: 1, b: 2 }\nconst shape = { words: [] }\nfunction make(x) { return globalThis.made = x }\n'
    const names = /const (?:\{(.*)\}|(\w+))/.exec(code)
    expect(names).not.toBeNull()
    const plain = `${around.replaceAll('shape', code.includes('const shape') ? 'former' : 'shape')}${code}\n`
    expect(await keptOf(plain)).not.toBe('')
    expect(await keptOf(withPureCalls(plain))).toBe('')
  })

  it('preserves the results of the code', async () => {
    const code = `
      const fields = { a: 1, b: 2, c: 3 }
      const { a: first, ...rest } = fields
      const more = { ...rest, list: Object.keys(rest) }
      const { b } = more
      const Made = class { static of = fields.c }
      export const all = [first, rest, more, b, Made.of]`
    const made = async (text: string) => (await import(`data:text/javascript,${encodeURIComponent(text)}`)).all
    expect(await made(withPureCalls(code))).toEqual(await made(code))
  })
})
