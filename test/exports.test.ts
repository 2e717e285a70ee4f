import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { publicEntries } from './harness/public-entries.ts'
import { type Export, exportsOf } from './harness/source.ts'

/** Every public name. A name that is added here is a promise; a name that goes is a breaking change. */
const expected: Record<string, string> = {}

const read = (path: string): string => readFileSync(path, 'utf8')

/** Follows a name to the file that declares it. */
function declarationOf(path: string, exported: Export): { path: string; name: string } {
  if (!exported.from) return { path, name: exported.name }
  const { from } = exported
  const next = exportsOf(from.path, read(from.path)).find((each) => each.name === from.name)
  if (!next) throw new Error(`${path} exports ${from.name} from ${from.path}, which has no such export.`)
  return declarationOf(from.path, next)
}

/** The words of the TSDoc comment that stands before the declaration of `name`. */
function documentationOf(code: string, name: string): string[] {
  const declaration = new RegExp(`^(?:export )?(?:abstract |async )?(?:function\\*?|const|let|class|interface|type) ${name}\\b`, 'm').exec(
    code,
  )
  const before = code.slice(0, declaration?.index ?? 0).trimEnd()
  if (!before.endsWith('*/')) return []
  const comment = before.slice(before.lastIndexOf('/**'))
  return comment.match(/[A-Za-z`]{2,}/g) ?? []
}

describe.each(publicEntries())('$subpath', ({ subpath, source }) => {
  const exported = exportsOf(source, read(source))
  const names = (which: Export[]): string[] => which.map((each) => each.name).toSorted()

  it('exports what it promises, no more and no less', () => {
    expect(names(exported)).toEqual((expected[subpath] ?? '').split(/\s+/).filter(Boolean).toSorted())
  })

  it('has at run time what its source says', async () => {
    const module: object = await import(`../${source}`)
    expect(Object.keys(module).toSorted()).toEqual(names(exported.filter((each) => !each.isType)))
  })

  it('documents every name', () => {
    const silent = exported.filter((each) => {
      const declared = declarationOf(source, each)
      return documentationOf(read(declared.path), declared.name).length < 4
    })
    expect(silent.map((each) => each.name)).toEqual([])
  })
})

it('a name without a comment is found', () => {
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'a').length).toBeGreaterThan(4)
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'b')).toEqual([])
})
