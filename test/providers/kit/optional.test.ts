import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readSources, resolveImport, type Sources } from '../../harness/source.ts'

/** Files of kit that import code of kit/optional, and what a call must have for that code to run. */
const doors: Readonly<Record<string, string>> = {
  'define-provider.ts': 'media in the request, or a refusal by the service',
  'encode/message-encoder.ts': 'media, hosted tools or unknown blocks in a message',
  'history/normalise.ts': 'a message that the target does not take as it is',
  'history/target.ts': 'the lines that stand for media, a map without code',
  'settings/plan-request.ts': 'a response format, a tool choice or a tool search',
  'transport/send.ts': 'long data that stand beside the body',
}

const kit = 'src/providers/kit/'
const optional = `${kit}optional/`

/** The files of kit, outside of optional, that import more than types from it. */
function importers(sources: Sources): string[] {
  const found = [...sources].filter(([path, code]) => {
    if (path.startsWith(optional)) return false
    const imports = code.matchAll(/^import (?!type )(?<names>[^']*?) from '(?<specifier>[^']+)'/gm)
    return Array.from(imports).some(({ groups: { names = '', specifier = '' } = {} }) => {
      const hasCode = names.split(',').some((name) => /^[{\s]*(?!type\b)\w/.test(name))
      return hasCode && resolveImport(path, specifier).startsWith(optional)
    })
  })
  return found.map(([path]) => path.slice(kit.length))
}

describe('kit/optional', () => {
  it('lazily loads optional kit files only from the deciding modules', () => {
    expect(importers(readSources(kit.slice(0, -1)))).toEqual(Object.keys(doors).toSorted())
  })

  it('detects an import from another file, except type imports', () => {
    const path = `${kit}codec.ts`
    const code = readFileSync(path, 'utf8')
    const withImport = (names: string) => importers(new Map([[path, `import ${names} from './optional/media/media-rules.ts'\n${code}`]]))
    expect(withImport('{ leftOutAt }')).toEqual(['codec.ts'])
    expect(withImport('{ type LeftOut, leftOutAt }')).toEqual(['codec.ts'])
    expect(withImport('type { LeftOut }')).toEqual([])
  })
})
