import { describe, expect, it } from 'vitest'
import { listFilesTool, searchTool } from '../../src/tools.ts'
import type { AgentTool } from '../../src/types/tool/tool.ts'
import type { Workspace } from '../../src/types/tool/workspace.ts'
import { memoryWorkspace } from '../../src/workspace/memory-workspace.ts'
import { context, textOf } from './context.ts'

const tree = {
  'README.md': 'Hello world\n',
  'src/a.ts': 'export const a = 1\nhello\n',
  'src/deep/b.ts': 'HELLO again',
  'src/deep/more/c.ts': 'hello\n',
  'src/deep/more/most/d.ts': 'hello\n',
  'target/out.ts': 'hello',
  '.git/config': 'hello',
  'src/node_modules/x/index.ts': 'hello',
  'image.dat': new Uint8Array([0, 104, 101, 108, 108, 111]),
}

const call = async (tool: AgentTool, args: { [key: string]: string | number | boolean }) => textOf(await tool.execute(args, context()))

const never = () => new Promise<never>(() => undefined)

describe('list_files', () => {
  const list = (args: { [key: string]: string | number } = {}, files: Record<string, string | Uint8Array> = tree) =>
    call(listFilesTool({ workspace: memoryWorkspace(files) }), args)

  it('lists three levels and skips build output, history and dependencies', async () => {
    expect(await list()).toBe('README.md\nimage.dat\nsrc/a.ts\nsrc/deep/b.ts\n\n(4 files)')
  })

  it('applies path, pattern and max_depth', async () => {
    expect(await list({ path: 'src', max_depth: 1 })).toBe('src/a.ts\n\n(1 files)')
    expect(await list({ path: './src/', max_depth: 9, pattern: '[cd].ts' })).toBe(
      'src/deep/more/c.ts\nsrc/deep/more/most/d.ts\n\n(2 files)',
    )
    expect(await list({ path: 'target' })).toBe('target/out.ts\n\n(1 files)')
  })

  it('matches globs on names or on paths below the directory', async () => {
    expect(await list({ pattern: '*.md' })).toBe('README.md\n\n(1 files)')
    expect(await list({ path: 'src', pattern: 'deep/*.ts' })).toBe('src/deep/b.ts\n\n(1 files)')
    expect(await list({ pattern: '*.rs' })).toBe('No files found in .')
  })

  it('counts every file found, including those not listed', async () => {
    const files = Object.fromEntries(Array.from({ length: 1203 }, (_, index) => [`f${String(index).padStart(4, '0')}.ts`, '']))
    const result = await listFilesTool({ workspace: memoryWorkspace(files) }).execute({}, context())
    expect(result).toMatchObject({ details: { total: 1203, truncated: true } })
    expect(textOf(result)).toMatch(/f0199\.ts\n\n\.\.\. \(1203 files, showing first 200\)$/)
  })

  it('escapes names that would break or reorder lines', async () => {
    const names = ['a\nb', 'c\u001b[31m', 'd\u202egnp.exe', 'e\u2028', 'ü日🙂']
    const text = await list({}, Object.fromEntries(names.map((name) => [name, ''])))
    expect(text).toBe('a\\u{a}b\nc\\u{1b}[31m\nd\\u{202e}gnp.exe\ne\\u{2028}\nü日🙂\n\n(5 files)')
  })

  it('explains why it cannot list the directory', async () => {
    await expect(list({ path: 'no' })).rejects.toThrow('Directory not found: no. Check the path and try again.')
    await expect(list({ path: 'README.md' })).rejects.toThrow(/Cannot list README\.md: .*is a file/)
    await expect(list({ path: '-delete' })).rejects.toMatchObject({ code: 'notFound' })
    await expect(list({ path: '..' })).rejects.toThrow(/leaves the workspace/)
  })

  it('yields to timers even with the slowest glob', async () => {
    const files = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`${'a'.repeat(3000)}${index}`, '']))
    const controller = new AbortController()
    let pauses = 0
    const timer = setInterval(() => ++pauses > 3 && controller.abort(), 1)
    const tool = listFilesTool({ workspace: memoryWorkspace(files) })
    const call = Promise.resolve(tool.execute({ pattern: `${'*a'.repeat(490)}b` }, context(controller.signal)))
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    clearInterval(timer)
  })

  it('times out and aborts even if the workspace hangs', async () => {
    const workspace: Workspace = { ...memoryWorkspace(), list: never }
    const timedOut = Promise.resolve(listFilesTool({ workspace, timeoutMs: 1 }).execute({}, context()))
    await expect(timedOut).rejects.toMatchObject({ code: 'timeout', message: 'Listing timed out' })
    const abort = new AbortController()
    const cancelled = Promise.resolve(listFilesTool({ workspace }).execute({}, context(abort.signal)))
    abort.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled', message: 'Cancelled' })
  })
})

describe('search', () => {
  const search = (args: { [key: string]: string | boolean }, files: Record<string, string | Uint8Array> = tree) =>
    call(searchTool({ workspace: memoryWorkspace(files) }), args)

  it('finds lines at any depth in text files, case-insensitively', async () => {
    expect(await search({ pattern: 'hello' })).toBe(
      [
        'README.md:1:Hello world',
        'src/a.ts:2:hello',
        'src/deep/b.ts:1:HELLO again',
        'src/deep/more/c.ts:1:hello',
        'src/deep/more/most/d.ts:1:hello',
        '',
        '(5 matches)',
      ].join('\n'),
    )
  })

  it('applies case sensitivity, include and path', async () => {
    expect(await search({ pattern: 'HELLO', case_sensitive: true })).toBe('src/deep/b.ts:1:HELLO again\n\n(1 matches)')
    expect(await search({ pattern: 'hello', include: '*.md' })).toBe('README.md:1:Hello world\n\n(1 matches)')
    expect(await search({ pattern: '^h', path: 'src/a.ts' })).toBe('src/a.ts:2:hello\n\n(1 matches)')
  })

  it('reports that no line matches', async () => {
    const result = await searchTool({ workspace: memoryWorkspace(tree) }).execute({ pattern: 'n[o]pe' }, context())
    expect(result).toEqual({
      content: [{ type: 'text', text: "No matches found for 'n[o]pe'" }],
      details: { matches: 0, truncated: false },
    })
  })

  it('returns 50 matches across all files and reports if there are more', async () => {
    const files = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, 'x\n'.repeat(20)]))
    expect(await search({ pattern: 'x' }, { ...files, c: 'x\n'.repeat(10) })).toMatch(/\n\n\(50 matches\)$/)
    const result = await searchTool({ workspace: memoryWorkspace(files) }).execute({ pattern: 'x' }, context())
    expect(result).toMatchObject({ details: { matches: 50, truncated: true } })
    expect(textOf(result)).toMatch(/c:10:x\n\n\.\.\. \(showing first 50 matches\)$/)
  })

  it('truncates long lines and escapes names', async () => {
    const text = await search({ pattern: 'needle' }, { 'a\nb': `needle${'y'.repeat(100_000)}` })
    expect(text.startsWith('a\\u{a}b:1:needleyyy')).toBe(true)
    expect(text.length).toBeLessThan(600)
  })

  it('completes for adversarial patterns and lines', async () => {
    for (const pattern of ['(a+)+$', '(a|aa)+$', '(.*a){500}$', '([a-z]+)*!$']) {
      expect(await search({ pattern }, { f: `${'a'.repeat(200_000)}!x` })).toContain('No matches found')
    }
  })

  it('passes patterns only as patterns, never as options', async () => {
    expect(await search({ pattern: '--pre=/bin/sh' }, { f: 'rg --pre=/bin/sh' })).toBe('f:1:rg --pre=/bin/sh\n\n(1 matches)')
  })

  it.each(['(', '(?=x)', '(a)\\1', 'a'.repeat(1001)])('rejects the search pattern %s', async (pattern) => {
    await expect(search({ pattern })).rejects.toMatchObject({ name: 'ToolError', code: 'invalidArguments' })
  })

  it('fails for missing paths and paths outside the workspace', async () => {
    await expect(search({ pattern: 'x', path: 'no' })).rejects.toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('Cannot search no'),
    })
    await expect(search({ pattern: 'x', path: '/etc' })).rejects.toThrow(/absolute/)
  })

  it('times out and aborts during synchronous work', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, 'some line\n'.repeat(20_000)]))
    const workspace = memoryWorkspace(files)
    const slow = Promise.resolve(searchTool({ workspace, timeoutMs: 1 }).execute({ pattern: 'nothing' }, context()))
    await expect(slow).rejects.toMatchObject({ code: 'timeout', message: 'Search timed out' })
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 0)
    const cancelled = Promise.resolve(searchTool({ workspace }).execute({ pattern: 'nothing' }, context(abort.signal)))
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled', message: 'Cancelled' })
  })

  it('formats the same output for every search engine', async () => {
    const seen: unknown[] = []
    const tool = searchTool({
      workspace: memoryWorkspace(),
      searcher: async ({ signal: _signal, ...query }) => {
        seen.push(query)
        return { matches: [{ path: 'a', line: 3, text: 'found' }], truncated: true }
      },
    })
    expect(await call(tool, { pattern: 'p', path: './src//', include: '*.ts' })).toBe('a:3:found\n\n... (showing first 1 matches)')
    expect(seen).toEqual([{ pattern: 'p', path: 'src', include: '*.ts', caseSensitive: false, maxResults: 50 }])
  })
})
