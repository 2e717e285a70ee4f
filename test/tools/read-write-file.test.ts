import { describe, expect, it } from 'vitest'
import type { ToolResult } from '../../src/contract/tool/tool-result.ts'
import { readFileTool, writeFileTool } from '../../src/tools.ts'
import type { Workspace } from '../../src/types/tool/workspace.ts'
import { memoryWorkspace } from '../../src/workspace/memory-workspace.ts'
import { context, textOf } from './context.ts'

type Files = Record<string, string | Uint8Array>

async function read(files: Files, args: { path: string; offset?: number; limit?: number }, maxBytes?: number): Promise<string> {
  const workspace = memoryWorkspace(files)
  return textOf(await readFileTool(maxBytes === undefined ? { workspace } : { workspace, maxBytes }).execute(args, context()))
}

/** A workspace with one endless-looking file of `size` bytes whose ranges are made on demand; counts what is read. */
function hugeWorkspace(size: number, line: string): { workspace: Workspace; largestRead: () => number; bytesRead: () => number } {
  const unit = new TextEncoder().encode(line)
  let largest = 0
  let total = 0
  const workspace: Workspace = {
    ...memoryWorkspace(),
    stat: async () => ({ kind: 'file', size, version: '1' }),
    async read(_path, { start = 0, end = size } = {}) {
      const length = Math.min(end, size) - start
      largest = Math.max(largest, length)
      total += length
      const bytes = new Uint8Array(length)
      for (let index = 0; index < length; index++) bytes[index] = unit[(start + index) % unit.length] ?? 0
      return bytes
    },
  }
  return { workspace, largestRead: () => largest, bytesRead: () => total }
}

describe('read_file', () => {
  it('adds line numbers to the text', async () => {
    expect(await read({ 'a.txt': 'first\nsecond\n' }, { path: 'a.txt' })).toBe('[2 lines]\n   1 | first\n   2 | second')
  })

  it.each([
    [{ offset: 2, limit: 2 }, '[Lines 2-3 of 4]\n   2 | b\n   3 | c'],
    [{ offset: 3 }, '[Lines 3-4 of 4]\n   3 | c\n   4 | d'],
    [{ limit: 1 }, '[Lines 1-1 of 4]\n   1 | a'],
    [{ offset: 1, limit: 100 }, '[4 lines]\n   1 | a\n   2 | b\n   3 | c\n   4 | d'],
  ])('reads the lines selected by %j', async (range, text) => {
    expect(await read({ f: 'a\nb\nc\nd' }, { path: 'f', ...range })).toBe(text)
  })

  it("reports an offset beyond the file's end", async () => {
    await expect(read({ f: 'a\nb' }, { path: 'f', offset: 3 })).rejects.toThrow('offset 3 is past the end of f (2 lines).')
  })

  it('reads CRLF, a byte order mark, an empty file and invalid UTF-8', async () => {
    expect(await read({ f: '\uFEFFa\r\nb\r\n' }, { path: 'f' })).toBe('[2 lines]\n   1 | a\n   2 | b')
    expect(await read({ f: '' }, { path: 'f' })).toBe('[0 lines]\n')
    expect(await read({ f: new Uint8Array([0x61, 0xe9, 0x62]) }, { path: 'f' })).toBe('[1 lines]\n   1 | a\uFFFDb')
  })

  it('does not split characters between read ranges', async () => {
    const line = 'aé🙂日'.repeat(1000)
    const text = `${line}\n`.repeat(60)
    const expected = Array.from({ length: 60 }, (_, index) => `${String(index + 1).padStart(4)} | ${line}`)
    expect((await read({ f: text }, { path: 'f' })).split('\n').slice(1)).toEqual(expected)
  })

  it('fails for missing files, directories and paths outside the workspace', async () => {
    await expect(read({}, { path: 'no' })).rejects.toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('Cannot access no: '),
    })
    await expect(read({ 'd/f': '' }, { path: 'd' })).rejects.toThrow('d is a directory. Use list_files')
    await expect(read({}, { path: '../x' })).rejects.toThrow(/Cannot access \.\.\/x: .*leaves the workspace/)
  })

  it('fails for a binary file', async () => {
    await expect(read({ f: new Uint8Array([1, 0, 2]) }, { path: 'f' })).rejects.toThrow('f is a binary file (3 bytes)')
  })

  it('rejects large files without a range and reads parts of them', async () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join('\n')
    await expect(read({ f: text }, { path: 'f' }, 100)).rejects.toThrow(
      `File too large (${text.length} bytes, max 100). Use offset/limit for partial reads.`,
    )
    expect(await read({ f: text }, { path: 'f', offset: 50, limit: 2 }, 100)).toBe('[Lines 50-51 of 100]\n  50 | line 50\n  51 | line 51')
    const cut = await read({ f: text }, { path: 'f', offset: 1, limit: 90 }, 100)
    expect(cut).toMatch(/\n\.\.\. \(output truncated\)$/)
    expect(cut.length).toBeLessThan(300)
  })

  it('reads a range of a 5 GB file without loading the rest', async () => {
    const { workspace, largestRead, bytesRead } = hugeWorkspace(5 * 1024 ** 3, '0123456789abcde\n')
    const text = textOf(await readFileTool({ workspace }).execute({ path: 'f', offset: 50_000, limit: 2 }, context()))
    expect(text).toBe('[Lines 50000-50001 of more than 50001]\n50000 | 0123456789abcde\n50001 | 0123456789abcde')
    expect(largestRead()).toBeLessThanOrEqual(1024 * 1024)
    expect(bytesRead()).toBeLessThan(4 * 1024 * 1024)
  })

  it('truncates a huge file without line breaks', async () => {
    const { workspace, bytesRead } = hugeWorkspace(8 * 1024 ** 2, 'x')
    const text = textOf(await readFileTool({ workspace, maxBytes: 1000 }).execute({ path: 'f', limit: 1 }, context()))
    expect(text.length).toBeLessThan(1100)
    expect(bytesRead()).toBeLessThan(9 * 1024 ** 2)
  })

  it.each([
    ['a.png', 'image/png'],
    ['a.JPG', 'image/jpeg'],
    ['a.jpeg', 'image/jpeg'],
    ['a.webp', 'image/webp'],
    ['a.gif', 'image/gif'],
    ['a.bmp', 'image/bmp'],
  ])('returns %s as an image of type %s', async (path, mimeType) => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251)
    const result = (await readFileTool({ workspace: memoryWorkspace({ [path]: bytes }) }).execute({ path }, context())) as ToolResult
    expect(result).toEqual({
      content: [{ type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType }],
      details: { path, bytes: 100_000 },
    })
  })

  it('returns a PDF as a named file', async () => {
    const workspace = memoryWorkspace({ 'docs/a.pdf': '%PDF-1.7 x' })
    expect(await readFileTool({ workspace }).execute({ path: 'docs/a.pdf' }, context())).toEqual({
      content: [{ type: 'file', mimeType: 'application/pdf', name: 'a.pdf', data: btoa('%PDF-1.7 x') }],
      details: { path: 'docs/a.pdf', bytes: 10 },
    })
  })

  it('reports a .pdf file that is not a PDF', async () => {
    const workspace = memoryWorkspace({ 'a.pdf': '<html>' })
    await expect(readFileTool({ workspace }).execute({ path: 'a.pdf' }, context())).rejects.toThrow('a.pdf is not a PDF')
  })

  it('rejects images over 20 MB', async () => {
    const { workspace } = hugeWorkspace(20 * 1024 ** 2 + 1, 'x')
    await expect(readFileTool({ workspace }).execute({ path: 'a.png' }, context())).rejects.toThrow('Image too large (21MB, max 20MB)')
  })

  it('stops between ranges on an abort', async () => {
    const abort = new AbortController()
    const { workspace, bytesRead } = hugeWorkspace(5 * 1024 ** 3, 'x\n')
    const read = workspace.read
    workspace.read = (path, options) => {
      if (bytesRead() > 2 * 1024 ** 2) abort.abort()
      return read(path, options)
    }
    const call = readFileTool({ workspace }).execute({ path: 'f', offset: 1e12 }, context(abort.signal))
    await expect(call).rejects.toMatchObject({ code: 'cancelled', message: 'Cancelled' })
  })
})

describe('write_file', () => {
  it('writes files, creates directories and counts bytes', async () => {
    const workspace = memoryWorkspace()
    const result = await writeFileTool({ workspace }).execute({ path: 'a/b.txt', content: 'é\n' }, context())
    expect(result).toEqual({ content: [{ type: 'text', text: 'Wrote 3 bytes to a/b.txt' }], details: { path: 'a/b.txt', bytes: 3 } })
    expect(new TextDecoder().decode(await workspace.read('a/b.txt'))).toBe('é\n')
  })

  it('writes nothing outside the workspace, over a directory or after an abort', async () => {
    const workspace = memoryWorkspace({ 'd/f': 'x' })
    const tool = writeFileTool({ workspace })
    await expect(tool.execute({ path: '/etc/passwd', content: '' }, context())).rejects.toThrow(/Cannot write \/etc\/passwd: .*absolute/)
    await expect(tool.execute({ path: 'd', content: '' }, context())).rejects.toThrow(/Cannot write d: .*directory/)
    await expect(tool.execute({ path: 'g', content: '' }, context(AbortSignal.abort()))).rejects.toMatchObject({ message: 'Cancelled' })
    expect((await workspace.list('.')).map((entry) => entry.path)).toEqual(['d'])
  })
})
