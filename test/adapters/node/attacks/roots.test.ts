import { mkdirSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bashTool, nodeTools, nodeWorkspace, ripgrepSearcher } from '../../../../adapters/node/index.ts'
import { temporaryRoot } from '../temporary.ts'

const makers = {
  bashTool: (root: string) => bashTool({ root, sandbox: 'none' }),
  nodeTools: (root: string) => nodeTools({ root, bash: false }),
  nodeWorkspace: (root: string) => nodeWorkspace(root),
  ripgrepSearcher: (root: string) => ripgrepSearcher(root),
}

const places = [
  '/',
  homedir(),
  '/etc',
  '/etc/..',
  '/usr',
  '/usr/bin',
  '/bin',
  '/lib',
  '/var',
  '/home',
  '/proc',
  '/proc/self',
  '/sys',
  '/dev',
]

describe.skipIf(process.platform !== 'linux')('workspace roots', () => {
  for (const [name, make] of Object.entries(makers)) {
    it(`rejects a system or home directory in ${name}, even through a link, unless explicitly allowed`, () => {
      const { outside } = temporaryRoot()
      for (const [index, place] of places.entries()) {
        symlinkSync(place, join(outside, `link${index}`))
        for (const root of [place, `${place}/.`, join(outside, `link${index}`)]) {
          expect(() => make(root), root).toThrow(expect.objectContaining({ name: 'ConfigError', code: 'invalidOption' }))
        }
      }
      expect(() => make('/')).toThrow(/allowSystemRoot: true/)
      expect(() => make('/etc/apt')).toThrow(/in \/etc/)
    })
  }

  it('accepts any directory with allowSystemRoot', () => {
    for (const root of ['/', '/etc', homedir()]) {
      expect(nodeWorkspace(root, { allowSystemRoot: true }).root).toBe(root)
      expect(() => nodeTools({ root, allowSystemRoot: true, bash: false })).not.toThrow()
    }
    // What would run lies in the root then, where tools can write.
    expect(() => bashTool({ root: '/', allowSystemRoot: true })).toThrow(/bwrap is not in the system directories outside the root/)
    expect(() => bashTool({ root: '/', allowSystemRoot: true, sandbox: 'none' })).toThrow(/no bash in the system directories outside/)
  })

  it('detects the home directory from HOME and from the system entry', () => {
    const { root } = temporaryRoot()
    mkdirSync(join(root, 'home/me'), { recursive: true })
    const before = process.env.HOME
    process.env.HOME = join(root, 'home/me')
    try {
      for (const place of [root, join(root, 'home'), join(root, 'home/me')]) expect(() => nodeWorkspace(place)).toThrow(/home directory/)
      mkdirSync(join(root, 'home/me/project'))
      expect(nodeWorkspace(join(root, 'home/me/project')).root).toBe(join(root, 'home/me/project'))
    } finally {
      process.env.HOME = before
    }
    expect(nodeWorkspace(root).root).toBe(root)
  })
})
