import { afterEach, describe, expect, it, vi } from 'vitest'
import { editFileTool, listFilesTool, readFileTool, searchTool } from '../../src/tools.ts'
import type { AgentTool } from '../../src/types/tool/tool.ts'
import type { Workspace } from '../../src/types/tool/workspace.ts'
import { memoryWorkspace } from '../../src/workspace/memory-workspace.ts'
import { context, textOf } from './context.ts'

// The limits the documentation names, one by one: whoever changes one changes a promise.

const mebibyte = 2 ** 20
const call = (tool: AgentTool, args: Record<string, string | number>) => Promise.resolve(tool.execute(args, context()))
const never = () => new Promise<never>(() => undefined)

describe('read_file limits', () => {
  const read = (bytes: Uint8Array | string, args: Record<string, number> = {}, path = 'f') =>
    call(readFileTool({ workspace: memoryWorkspace({ [path]: bytes }) }), { path, ...args })

  it('reads up to 1 MiB of text at a time', async () => {
    expect(textOf(await read('x'.repeat(mebibyte)))).toMatch(/^\[1 lines\]\n {3}1 \| x{1000}/)
    await expect(read('x'.repeat(mebibyte + 1))).rejects.toThrow('File too large (1048577 bytes, max 1048576). Use offset/limit')
    const page = textOf(await read(`${'y'.repeat(99)}\n`.repeat(20_000), { offset: 2 }))
    expect(page.endsWith('... (output truncated)')).toBe(true)
    expect(page.match(/y/g)?.length).toBe(Math.floor((mebibyte / 100) * 99) + 1)
  })

  it('reads images up to 20 MiB', async () => {
    expect(await read(new Uint8Array(20 * mebibyte), {}, 'f.png')).toMatchObject({ details: { bytes: 20 * mebibyte } })
    await expect(read(new Uint8Array(20 * mebibyte + 1), {}, 'f.png')).rejects.toThrow('Image too large (21MB, max 20MB)')
  })

  it('searches the first 8 KiB for NUL bytes', async () => {
    const nulAt = (index: number) => read(`${'x'.repeat(index)}\0`)
    await expect(nulAt(8191)).rejects.toThrow(/binary file/)
    expect(textOf(await nulAt(8192))).toContain('xxx')
  })

  it.each(['png', 'jpg', 'jpeg', 'gif', 'webp', 'bmp', 'PNG'])('returns a .%s file as an image', async (extension) => {
    const type = extension === 'jpg' ? 'jpeg' : extension.toLowerCase()
    expect(await read(new Uint8Array([1]), {}, `f.${extension}`)).toMatchObject({ content: [{ type: 'image', mimeType: `image/${type}` }] })
  })
})

describe('edit_file limits', () => {
  it('edits files up to 20 MiB', async () => {
    const edit = (size: number) =>
      call(editFileTool({ workspace: memoryWorkspace({ f: `b${'a'.repeat(size - 1)}` }) }), { path: 'f', old_text: 'b', new_text: 'c' })
    expect(textOf(await edit(20 * mebibyte))).toBe('Replaced 1 line(s) with 1 line(s) in f')
    await expect(edit(20 * mebibyte + 1)).rejects.toThrow('File too large (20971521 bytes, max 20971520)')
  })
})

describe('search limits', () => {
  it('truncates lines to 500 characters', async () => {
    const search = async (text: string) =>
      textOf(await call(searchTool({ workspace: memoryWorkspace({ f: text }) }), { pattern: 'x' })).split('\n')[0]
    expect(await search('x'.repeat(500))).toBe(`f:1:${'x'.repeat(500)}`)
    expect(await search('x'.repeat(501))).toBe(`f:1:${'x'.repeat(500)}…`)
  })

  it.each(['target', '.git', 'node_modules'])('skips %s at any depth', async (name) => {
    const workspace = memoryWorkspace({ [`${name}/f`]: 'x', [`a/${name}/f`]: 'x', 'a/f': 'x' })
    expect(textOf(await call(searchTool({ workspace }), { pattern: 'x' }))).toBe('a/f:1:x\n\n(1 matches)')
    expect(textOf(await call(listFilesTool({ workspace }), {}))).toBe('a/f\n\n(1 files)')
  })
})

describe('tool time limits', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  const hanging: Workspace = { ...memoryWorkspace(), list: never, stat: never }

  it.each([
    ['list_files', listFilesTool({ workspace: hanging }), 10_000],
    ['search', searchTool({ workspace: hanging }), 30_000],
  ])('times out after the documented limit: %s', async (_, tool, limit) => {
    vi.useFakeTimers()
    let outcome = 'waits'
    const ended = call(tool, { pattern: 'x' }).catch((error: Error) => {
      outcome = error.message
    })
    await vi.advanceTimersByTimeAsync(limit - 1)
    expect(outcome).toBe('waits')
    await vi.advanceTimersByTimeAsync(1)
    await ended
    expect(outcome).toMatch(/timed out/)
  })
})
