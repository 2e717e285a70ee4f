import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeWorkspace, ripgrepSearcher } from '../../../adapters/node/index.ts'
import { type SearchQuery, workspaceSearcher } from '../../../src/tools.ts'
import { failureOf, present, temporaryRoot } from './temporary.ts'

const hasRipgrep = present('rg', '--version')

function searcher(files: Record<string, string>) {
  const { root, outside } = temporaryRoot()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const search = ripgrepSearcher(root)
  if (search === undefined) throw new Error('rg disappeared')
  const query = (pattern: string, rest: Partial<SearchQuery> = {}) =>
    search({ pattern, path: '.', caseSensitive: false, maxResults: 50, signal: new AbortController().signal, ...rest })
  return { root, outside, query }
}

describe('ripgrepSearcher', () => {
  it('returns undefined if rg is not installed', () => {
    // What lies in the root is none.
    expect(ripgrepSearcher('/usr', { allowSystemRoot: true })).toBe(undefined)
  })
})

describe.skipIf(!hasRipgrep)('ripgrepSearcher results', () => {
  it('returns path, line and text sorted by path', async () => {
    const { query } = searcher({ 'b.txt': 'one\nNeedle two\r\n', 'a/deep.ts': 'x\n\nneedle\n', 'c.txt': 'nothing' })
    expect(await query('needle')).toEqual({
      matches: [
        { path: 'a/deep.ts', line: 3, text: 'needle' },
        { path: 'b.txt', line: 2, text: 'Needle two' },
      ],
      truncated: false,
    })
    expect((await query('needle', { caseSensitive: true })).matches.map((match) => match.path)).toEqual(['a/deep.ts'])
    expect((await query('needle', { include: '*.txt' })).matches.map((match) => match.path)).toEqual(['b.txt'])
    expect((await query('needle', { path: 'a' })).matches.map((match) => match.path)).toEqual(['a/deep.ts'])
    expect((await query('needle', { path: 'b.txt' })).matches.map((match) => match.line)).toEqual([2])
    expect(await query('absent')).toEqual({ matches: [], truncated: false })
  })

  it('searches hidden and ignored files but skips dependencies, history and builds', async () => {
    const { root, query } = searcher({
      '.gitignore': 'ignored.txt\n',
      'ignored.txt': 'needle',
      '.hidden': 'needle',
      'node_modules/a/b.js': 'needle',
      '.git/config': 'needle',
      'target/x': 'needle',
      'sub/node_modules/c.js': 'needle',
      'sub/target': 'needle',
    })
    symlinkSync('node_modules/a', join(root, 'link'))
    const paths = async (rest: Partial<SearchQuery>) => (await query('needle', rest)).matches.map((match) => match.path)
    expect(await paths({})).toEqual(['.hidden', 'ignored.txt', 'sub/target'])
    expect(await paths({ path: 'node_modules' })).toEqual(['node_modules/a/b.js'])
    expect(await paths({ path: 'node_modules/a' })).toEqual(['node_modules/a/b.js'])
    expect(await paths({ path: 'link', include: 'b.*' })).toEqual(['link/b.js'])
    expect(await paths({ path: 'node_modules/a/b.js', include: '*.ts' })).toEqual(['node_modules/a/b.js'])
    expect(await paths({ path: 'node_modules', include: 'a/*.js' })).toEqual(['node_modules/a/b.js'])
  })

  it('returns the same results as the portable searcher', async () => {
    const { root, query } = searcher({
      'a.txt': 'foo\nbar foo\r\nbaz',
      'b/c.ts': 'Foo(bar)\n\tfoo',
      'b/c.txt': 'grün foo\n',
      'b/nul.bin': 'foo\0foo\n',
      'b.txt': 'f.o\n',
      '#!.ts': 'foo',
      '!x.ts': 'foo',
    })
    const portable = workspaceSearcher(nodeWorkspace(root))
    const cases: Partial<SearchQuery>[] = [
      {},
      { path: 'b' },
      { path: 'a.txt' },
      { include: '*.txt' },
      { include: '*.{ts,bin}' },
      { include: '!*.ts' },
      { include: '#*' },
      { include: './b/*' },
      { maxResults: 2 },
    ]
    for (const rest of cases) {
      for (const pattern of ['foo', '^f.o', 'f\\.o', '(bar|baz)$', 'ü']) {
        const full = { pattern, path: '.', caseSensitive: false, maxResults: 50, signal: new AbortController().signal, ...rest }
        expect(await query(pattern, rest)).toEqual(await portable(full))
      }
    }
  })

  it('stops at the limit across all files and reports truncation', async () => {
    const { query } = searcher({ 'a.txt': 'hit\n'.repeat(8), 'b.txt': 'hit\n'.repeat(100_000) })
    const found = await query('hit', { maxResults: 10 })
    expect(found.matches.map((match) => match.path)).toEqual([...Array(8).fill('a.txt'), ...Array(2).fill('b.txt')])
    expect(found.truncated).toBe(true)
    expect((await query('hit', { path: 'a.txt', maxResults: 8 })).truncated).toBe(false)
    expect((await query('hit', { path: 'a.txt', maxResults: 7 })).truncated).toBe(true)
  })

  it('handles unusual names, invalid UTF-8 and very long lines', async () => {
    const { root, query } = searcher({ 'line\nbreak:1:x': 'needle\n', '-rf': 'needle\n', 'long.txt': `${'x'.repeat(3 * 2 ** 20)}needle\n` })
    writeFileSync(join(root, 'latin1.txt'), Buffer.from('needle gr\xfc\xdf\n', 'latin1'))
    const found = await query('needle')
    expect(found.matches.map((match) => match.path)).toEqual(['-rf', 'latin1.txt', 'line\nbreak:1:x'])
    expect(found.matches[1]?.text).toBe('needle gr\ufffd\ufffd')
    expect(found.truncated).toBe(true)
  })

  it('reports an invalid pattern or path', async () => {
    const { query } = searcher({ 'a.txt': 'x' })
    expect(await failureOf(query('(unclosed'))).toMatch(/^invalidArguments: .*unclosed group/s)
    expect(await failureOf(query('x', { path: 'missing' }))).toBe('notFound')
    expect(await failureOf(query('x', { path: '../outside' }))).toBe('outside')
  })

  it('stops when its signal is aborted', async () => {
    const { query } = searcher({ 'a.txt': 'x' })
    expect(await failureOf(query('x', { signal: AbortSignal.abort(new Error('stopped')) }))).toBe('Error: stopped')
    const controller = new AbortController()
    const call = query('x', { signal: controller.signal })
    controller.abort(new Error('stopped'))
    expect(await failureOf(call)).toBe('Error: stopped')
  })
})

describe.skipIf(!hasRipgrep)('ripgrepSearcher security', () => {
  it('passes no pattern or path as an option', async () => {
    const { root, query } = searcher({ 'a.txt': '--pre=./evil.sh\n-f/etc/passwd\n' })
    writeFileSync(join(root, 'evil.sh'), '#!/bin/sh\ntouch executed\ncat\n')
    chmodSync(join(root, 'evil.sh'), 0o755)
    expect((await query('--pre=./evil.sh', { include: '*.txt' })).matches.map((match) => match.line)).toEqual([1])
    expect((await query('-f/etc/passwd')).matches.map((match) => match.line)).toEqual([2])
    expect(await failureOf(query('x', { path: '--pre=evil.sh' }))).toBe('notFound')
    expect((await query('pre', { include: '--pre=./evil.sh' })).matches).toEqual([])
    writeFileSync(join(root, '.ripgreprc'), '--pre=./evil.sh\n')
    process.env.RIPGREP_CONFIG_PATH = join(root, '.ripgreprc')
    try {
      await query('pre')
    } finally {
      delete process.env.RIPGREP_CONFIG_PATH
    }
    expect(existsSync(join(root, 'executed'))).toBe(false)
  })

  it('follows no link out of the root', async () => {
    const { root, outside, query } = searcher({ 'a.txt': 'inside SECRET\n' })
    writeFileSync(join(outside, 'secret'), 'SECRET\n')
    symlinkSync(outside, join(root, 'dir'))
    symlinkSync(join(outside, 'secret'), join(root, 'file'))
    expect((await query('SECRET')).matches.map((match) => match.path)).toEqual(['a.txt'])
    for (const path of ['dir', 'file', 'dir/secret']) expect(await failureOf(query('SECRET', { path }))).toBe('outside')
  })

  it('completes an adversarial pattern in linear time', async () => {
    const { query } = searcher({ 'a.txt': `${'a'.repeat(100_000)}!\n` })
    expect((await query('(a+)+$')).matches).toEqual([])
  })
})
