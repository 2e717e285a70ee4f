import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editFileTool } from '../../src/tools.ts'
import type { Workspace } from '../../src/types/tool/workspace.ts'
import { memoryWorkspace } from '../../src/workspace/memory-workspace.ts'
import { context, textOf } from './context.ts'

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

async function edit(content: string | Uint8Array, oldText: string, newText: string): Promise<string> {
  const workspace = memoryWorkspace({ f: content })
  await editFileTool({ workspace }).execute({ path: 'f', old_text: oldText, new_text: newText }, context())
  return decode(await workspace.read('f'))
}

describe('edit_file', () => {
  it('replaces a unique occurrence and reports the lines', async () => {
    const workspace = memoryWorkspace({ f: 'one\ntwo\nthree\n' })
    const result = await editFileTool({ workspace }).execute({ path: 'f', old_text: 'two\nthree', new_text: '2' }, context())
    expect(result).toEqual({
      content: [{ type: 'text', text: 'Replaced 2 line(s) with 1 line(s) in f' }],
      details: { path: 'f', old_lines: 2, new_lines: 1 },
    })
    expect(decode(await workspace.read('f'))).toBe('one\n2\n')
  })

  it('treats old_text and new_text literally', async () => {
    expect(await edit('a.*b', '.*', '$& $1')).toBe('a$& $1b')
  })

  it('preserves CRLF line endings and a byte order mark', async () => {
    expect(await edit('\uFEFFa\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz')).toBe('\uFEFFx\r\ny\r\nz\r\nc\r\n')
  })

  describe('edit_file line endings', () => {
    it.each([
      ['new_text with LF in a CRLF file', 'a\r\nb\r\n', 'b', 'x\ny', 'a\r\nx\r\ny\r\n'],
      ['old_text with CRLF and new_text with LF', 'a\r\nb\r\n', 'a\r\nb', 'x\ny', 'x\r\ny\r\n'],
      ['old_text with both ends in a CRLF file', 'a\r\nb\r\nc\r\n', 'a\r\nb\nc', 'x\ny', 'x\r\ny\r\n'],
      ['new_text with CRLF in an LF file', 'a\nb\n', 'b', 'x\r\ny', 'a\nx\ny\n'],
      ['a last line without a line ending', 'a\r\nb', 'b', 'x\ny\n', 'a\r\nx\r\ny\r\n'],
      ['old_text that starts at a line ending', 'a\r\nb\r\nc', '\nb', '', 'a\r\nc'],
      ['old_text that ends at a line ending', 'a\r\nb\r\n', 'a\n', 'x\n', 'x\r\nb\r\n'],
      ['lines added to a CRLF part of a mixed file', 'a\r\nb\r\nc\nd\n', 'b', 'b\nx', 'a\r\nb\r\nx\r\nc\nd\n'],
      ['lines added to an LF part of a mixed file', 'a\r\nb\r\nc\nd\n', 'c', 'c\r\nx', 'a\r\nb\r\nc\nx\nd\n'],
      ['old_text across both endings of a mixed file', 'a\r\nb\nc\r\n', 'a\nb\nc', 'a\nB\nc', 'a\r\nB\nc\r\n'],
      ['a line inserted before others in a mixed file', 'a\r\nb\nc\n', 'a\nb\nc', 'x\na\nb\nc', 'x\r\na\r\nb\nc\n'],
      ['a line inserted between others in a mixed file', 'a\nb\r\nc\r\n', 'a\nb\nc', 'a\nx\nb\nc', 'a\nx\nb\r\nc\r\n'],
      ['a line removed from a mixed file', 'a\r\nb\nc\r\nd', 'a\nb\nc\nd', 'a\nc\nd', 'a\r\nc\r\nd'],
      ['a file without line endings', 'a', 'a', 'x\r\ny\n', 'x\r\ny\n'],
    ])('preserves the line endings of neighboring lines: %s', async (_, content, oldText, newText, expected) => {
      expect(await edit(content, oldText, newText)).toBe(expected)
    })

    it('rejects text that occurs twice with different line endings', async () => {
      await expect(edit('a\r\nb\r\na\nb\n', 'a\nb', 'x')).rejects.toThrow('old_text matches 2 locations in f.')
    })

    it.each([
      ['a\nb\n', 'a\r\nb'],
      ['a\r\nb\nc\n', 'b\r\nc'],
    ])('reports that %j contains %j only with different line endings', async (content, oldText) => {
      await expect(edit(content, oldText, 'x')).rejects.toThrow(
        'old_text is in f, but with other line ends: it has CRLF where the file has LF. Write the line ends of old_text as \\n, which matches both.',
      )
    })

    it('suggests write_file for texts that differ only in line endings', async () => {
      const workspace = memoryWorkspace({ f: 'a\r\nb\r\n' })
      const result = await editFileTool({ workspace }).execute({ path: 'f', old_text: 'a\r\nb', new_text: 'a\nb' }, context())
      expect(textOf(result)).toBe('No changes: the texts differ only in line ends, which edit_file keeps. Use write_file to change them.')
    })

    it('preserves the endings of unchanged lines in any mixed file', async () => {
      const end = fc.constantFrom('\n', '\r\n')
      await fc.assert(
        fc.asyncProperty(fc.array(end, { minLength: 3, maxLength: 8 }), fc.nat(), fc.nat(3), async (ends, at, added) => {
          const place = at % ends.length
          const lines = ends.map((_, index) => `line ${index}`)
          const more = Array.from({ length: added }, (_, index) => `added ${index}`)
          const content = lines.map((line, index) => line + ends[index]).join('')
          const newLines = lines.toSpliced(place, 0, ...more)
          const edited = await edit(content, lines.join('\n'), newLines.join('\r\n'))
          for (const [index, line] of lines.entries()) expect(edited).toContain(`${line}${ends[index]}`)
          expect(edited.replaceAll('\r', '')).toBe(newLines.map((line) => `${line}\n`).join(''))
        }),
      )
    })
  })

  it('reports no changes if both texts are equal', async () => {
    const workspace = memoryWorkspace({ f: 'a' })
    const before = await workspace.stat('f')
    const result = await editFileTool({ workspace }).execute({ path: 'f', old_text: 'a', new_text: 'a' }, context())
    expect(result).toMatchObject({ content: [{ text: 'No changes (old_text == new_text)' }] })
    expect(await workspace.stat('f')).toEqual(before)
  })

  it.each([
    ['a\na\n', 'a', 'old_text matches 2 locations in f. Include more surrounding context to make the match unique.'],
    ['a\n', 'b', 'old_text not found in f.\n\nTip: Use read_file'],
    ['if x:\n    run()\nend\n', 'if x:\n  run()', 'old_text not found in f.\n\nDid you mean:\n```\nif x:\n    run()\nend\n```\n'],
    [new Uint8Array([0xff, 0x61]), 'a', 'f is not UTF-8 text and cannot be edited.'],
    ['a', '', 'old_text must not be empty.'],
  ])('rejects the file content %j with old_text %j', async (content, oldText, message) => {
    await expect(edit(content, oldText, 'x')).rejects.toThrow(message)
  })

  it('suggests write_file for a missing file', async () => {
    const call = editFileTool({ workspace: memoryWorkspace() }).execute({ path: 'f', old_text: 'a', new_text: 'b' }, context())
    await expect(call).rejects.toMatchObject({ code: 'notFound', message: 'Cannot read f. Use write_file to create new files.' })
  })

  it('writes nothing if the file changes during the edit', async () => {
    const inner = memoryWorkspace({ f: 'old' })
    const workspace: Workspace = {
      ...inner,
      async read(path, options) {
        const bytes = await inner.read(path, options)
        await inner.write(path, new TextEncoder().encode('old, changed by someone'))
        return bytes
      },
    }
    const call = editFileTool({ workspace }).execute({ path: 'f', old_text: 'old', new_text: 'new' }, context())
    await expect(call).rejects.toThrow('f changed during the edit, so nothing was written. Read it again and retry.')
    expect(decode(await inner.read('f'))).toBe('old, changed by someone')
  })

  it('writes nothing after an abort', async () => {
    const abort = new AbortController()
    const inner = memoryWorkspace({ f: 'old' })
    const workspace: Workspace = {
      ...inner,
      read: (path) => {
        abort.abort()
        return inner.read(path)
      },
    }
    const call = editFileTool({ workspace }).execute({ path: 'f', old_text: 'old', new_text: 'new' }, context(abort.signal))
    await expect(call).rejects.toMatchObject({ code: 'cancelled', message: 'Cancelled' })
    expect(decode(await inner.read('f'))).toBe('old')
  })
})

describe('edit_file with adversarial texts', () => {
  const call = async (content: string, oldText: string) => {
    const workspace = memoryWorkspace({ f: content })
    return textOf(await editFileTool({ workspace }).execute({ path: 'f', old_text: oldText, new_text: 'x' }, context()))
  }

  it.each([
    ['a'.repeat(4_000_000), `${'a'.repeat(20)}b${'a'.repeat(20_000)}`],
    ['a'.repeat(4_000_000), `${'a'.repeat(20_000)}b`],
    [`${'a'.repeat(4_000_000)}\n`, `${'a'.repeat(5000)}b${'a'.repeat(5000)}\nc`],
    ['ab'.repeat(2_000_000), `${'ab'.repeat(5000)}c${'ab'.repeat(300)}`],
  ])('searches in linear time', async (content, oldText) => {
    await expect(call(content, oldText)).rejects.toThrow(/old_text not found/)
  })

  it('finds the same occurrences as a plain search', async () => {
    const letters = fc.stringMatching(/^[ab]{0,40}$/)
    await fc.assert(
      fc.asyncProperty(letters, fc.stringMatching(/^[ab]{1,6}$/), async (content, target) => {
        const count = content.split(target).length - 1
        const answer = call(content, target)
        if (count === 0) await expect(answer).rejects.toThrow(/not found/)
        else if (count > 1) await expect(answer).rejects.toThrow(`matches ${count} locations`)
        else expect(await answer).toBe('Replaced 1 line(s) with 1 line(s) in f')
      }),
    )
  })
})
