import { describe, expect, it } from 'vitest'
import { importedPackages, isAllowed, licenceFaults, publishedPackages, readAudit } from '../../scripts/check/supply-rules.ts'

const locked = {
  'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { b: '1' }, optionalDependencies: { none: '1' } },
  'node_modules/a/node_modules/b': { version: '2.0.0', license: 'GPL-3.0-only', dependencies: { c: '1' } },
  'node_modules/b': { version: '1.0.0', license: 'ISC' },
  'node_modules/c': { version: '1.0.0' },
}

describe('publishedPackages and importedPackages', () => {
  it('includes imported packages with their dependencies, as Node resolves them', () => {
    expect([...publishedPackages(locked, ['a'])]).toEqual(['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/c'])
    expect(() => publishedPackages(locked, ['d'])).toThrow(/d, which this repository needs/)
  })

  it('includes every package that a program imports', () => {
    const texts = [
      "import a from 'a'\nimport { x } from '@s/b/deep'\nimport './c.ts'\nimport 'd'",
      "await import('e/f.mjs')\nimport 'node:fs'\nimport 'phi-core'",
    ]
    expect([...importedPackages(texts)]).toEqual(['a', '@s/b', 'd', 'e'])
  })

  it('reports licences outside the allowed list', () => {
    expect(licenceFaults(locked, publishedPackages(locked, ['a']))).toEqual([
      expect.stringContaining('node_modules/a/node_modules/b@2.0.0: GPL-3.0-only'),
      expect.stringContaining('node_modules/c@1.0.0: no licence'),
    ])
  })

  it.each([
    ['MIT', true],
    ['(MPL-2.0 OR Apache-2.0)', true],
    ['MIT AND ISC', true],
    ['(MIT AND GPL-2.0-only) OR ISC', true],
    ['MIT AND GPL-2.0-only', false],
    ['MIT AND (GPL-2.0-only OR ISC)', true],
    ['GPL-2.0-only', false],
    ['SEE LICENSE IN LICENSE', false],
    ['(MIT', false],
    ['MIT MIT', false],
    ['', false],
  ])('checks the licence %j: %s', (license, expected) => {
    expect(isAllowed(license)).toBe(expected)
  })
})

describe('readAudit', () => {
  const paths = new Set(['node_modules/a'])
  const report = (nodes: string[]) =>
    JSON.stringify({ vulnerabilities: { a: { name: 'a', severity: 'low', nodes, via: ['b', { title: 'Bad', url: 'https://a.test/1' }] } } })

  it('reports only vulnerabilities of published packages', () => {
    expect(readAudit(report(['node_modules/a']), paths)).toEqual({ faults: ['a: low: through b; Bad (https://a.test/1)'] })
    expect(readAudit(report(['node_modules/x/node_modules/a']), paths)).toEqual({ faults: [] })
  })

  it.each([
    ['', 'npm wrote no report'],
    ['{"message":"405 Method Not Allowed","error":{"summary":""}}', '405 Method Not Allowed'],
    ['{"error":{"summary":"request failed"}}', 'request failed'],
    ['{}', 'the report has no list'],
  ])('reports that %j was unreachable', (text, unreachable) => {
    expect(readAudit(text, paths)).toEqual({ unreachable })
  })
})
