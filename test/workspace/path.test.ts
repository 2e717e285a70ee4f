import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinPath, resolvePath } from '../../src/workspace/workspace-rules.ts'

describe('resolvePath', () => {
  it.each([
    ['', '.'],
    ['.', '.'],
    ['./', '.'],
    ['a', 'a'],
    ['./a//b/', 'a/b'],
    ['a/../b', 'b'],
    ['a/b/../..', '.'],
    ['.git/config', '.git/config'],
    ['.gitignore', '.gitignore'],
    ['...a', '...a'],
    ['console.log', 'console.log'],
    ['~/x', '~/x'],
  ])('resolves %j to %j', (path, resolved) => {
    expect(resolvePath(path)).toBe(resolved)
  })

  it.each([
    '/',
    '/a',
    '..',
    'a/../..',
    'a\\b',
    'a\0',
    'c:',
    'C:/a',
    'a/b::$DATA',
    'con',
    'a/PRN.log',
    'LPT9',
    'com¹',
    '.. /a',
    'a./b',
    '...',
  ])('rejects %j and names it', (path) => {
    expect(() => resolvePath(path)).toThrow(JSON.stringify(path))
    expect(() => resolvePath(path)).toThrow(expect.objectContaining({ name: 'WorkspaceError', code: 'outside' }))
  })

  it('is idempotent and never escapes the root', () => {
    const part = fc.oneof(fc.constantFrom('..', '.', '', 'a', 'b c', '\\', ':', 'nul', '🙂'), fc.string())
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join('/')),
        (path) => {
          let resolved: string
          try {
            resolved = resolvePath(path)
          } catch {
            return
          }
          expect(resolvePath(resolved)).toBe(resolved)
          expect(resolved.startsWith('/') || resolved.split('/').includes('..')).toBe(false)
        },
      ),
    )
  })
})

describe('joinPath', () => {
  it('returns a resolved path', () => {
    expect([joinPath('.', 'a'), joinPath('a/b', 'c')]).toEqual(['a', 'a/b/c'])
    for (const path of [joinPath('.', 'a'), joinPath('a/b', 'c')]) expect(resolvePath(path)).toBe(path)
  })
})
