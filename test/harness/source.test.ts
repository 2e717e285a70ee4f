import { describe, expect, it } from 'vitest'
import { blankOut, exportsOf, importsOf, resolveImport } from './source.ts'

describe('importsOf', () => {
  const specifiers = (code: string): unknown[] => importsOf(code).map((found) => found.specifier)

  it('finds every form of import', () => {
    expect(specifiers("import { a } from './a.ts'\nimport './b.ts'\nexport { c } from './c.ts'")).toEqual(['./a.ts', './b.ts', './c.ts'])
    expect(specifiers("import type {\n  A,\n} from './a.ts'\nconst b = await import('b')\ntype C = import('c').C")).toEqual([
      './a.ts',
      'b',
      'c',
    ])
  })

  it('returns no specifier for a computed import', () => {
    expect(specifiers("import('node:' + 'os')")).toEqual([undefined])
    expect(specifiers('import(name)')).toEqual([undefined])
    expect(specifiers('import(`node:$' + '{name}`)')).toEqual([undefined])
  })

  it('ignores comments, strings and regular expressions', () => {
    expect(specifiers("// import 'a'\n/* from 'b' */ const s = \"import 'c'\"; const r = /from 'd'/; // it's\nimport 'e'")).toEqual(['e'])
  })
})

describe('blankOut', () => {
  it('blanks out text without moving code', () => {
    const code = "const a = 'x' // y\n/* z */ const b = /['\"]/g"
    expect(blankOut(code)).toBe("const a = ' '     \n        const b =        ")
    expect(blankOut(`f(\`**/*.ts \${process.env.A} "\`)`)).toBe(`f(\`        \${process.env.A}  \`)`)
  })
})

describe('exportsOf', () => {
  it('lists declarations, re-exports and types', () => {
    const code = "export const a = 1\nexport interface B {}\nexport { c, type D, e as f } from './x.ts'\nexport type { G } from '../g.ts'"
    expect(exportsOf('src/y/index.ts', code)).toEqual([
      { name: 'a', isType: false },
      { name: 'B', isType: true },
      { name: 'c', isType: false, from: { path: 'src/y/x.ts', name: 'c' } },
      { name: 'D', isType: true, from: { path: 'src/y/x.ts', name: 'D' } },
      { name: 'f', isType: false, from: { path: 'src/y/x.ts', name: 'e' } },
      { name: 'G', isType: true, from: { path: 'src/g.ts', name: 'G' } },
    ])
  })

  it('resolves relative paths only', () => {
    expect(resolveImport('src/a/b.ts', '../c/d.ts')).toBe('src/c/d.ts')
    expect(resolveImport('src/a/b.ts', 'zod')).toBe('zod')
  })
})
