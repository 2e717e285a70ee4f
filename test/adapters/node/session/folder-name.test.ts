import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { folderOf, sessionIdOf } from '../../../../adapters/node/session/folder-name.ts'

const sessionId = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/)

describe('session folder names', () => {
  it('equals the id if that is safe on every system', () => {
    for (const id of ['s1', '0', '_', '-', 'a.b_c-9', '3f2b5a9e-0000-4000-8000-123456789abc']) expect(folderOf(id)).toBe(id)
  })

  it('escapes upper case, a trailing dot and device names', () => {
    expect(folderOf('Case-1')).toBe('case-1+8')
    expect(folderOf('caseD')).toBe('cased+08')
    expect(folderOf('a.')).toBe('a.+')
    expect(folderOf('con')).toBe('+con')
    expect(folderOf('NUL.txt')).toBe('+nul.txt+e')
  })

  it('decodes to the id, fits a file name and is unique ignoring case', () => {
    fc.assert(
      fc.property(fc.uniqueArray(sessionId, { maxLength: 20 }), (ids) => {
        const folders = ids.map(folderOf)
        expect(folders.map(sessionIdOf)).toEqual(ids)
        expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(ids.length)
        for (const folder of folders) expect(folder.length).toBeLessThanOrEqual(252)
      }),
    )
    const id = fc.stringMatching(/^[aA]{1,9}$/)
    fc.assert(fc.property(id, id, (one, other) => (one === other) === (folderOf(one) === folderOf(other))))
  })

  it('ignores any other folder name', () => {
    for (const name of ['A', 'a+', 'a+0', 'a+8+8', '+a', '++con', 'a+80', '1+8', 'a b', 'a+g', '.a', ''])
      expect(sessionIdOf(name)).toBeUndefined()
  })
})
