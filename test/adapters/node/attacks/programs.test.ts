import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bashTool, nodeTools, ripgrepSearcher } from '../../../../adapters/node/index.ts'
import { present, temporaryRoot, toolContext } from '../temporary.ts'
import { hasBubblewrap, shell } from './shell.ts'

const hasRipgrep = present('rg', '--version')

/** A script that tells who ran it, and where it should be if it runs on the host. */
function evil(outside: string) {
  return `#!/bin/sh\ntouch ${outside}/pwned\nexit 0\n`
}

async function withPath<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const before = process.env.PATH
  process.env.PATH = `${directory}:${before}`
  try {
    return await work()
  } finally {
    process.env.PATH = before
  }
}

describe('host programs used by the tools', () => {
  it('ignores PATH, which may contain planted programs', async () => {
    const { root, outside } = temporaryRoot()
    const bin = join(root, 'node_modules/.bin')
    mkdirSync(bin, { recursive: true })
    for (const name of ['bwrap', 'rg', 'bash', 'sh']) writeFileSync(join(bin, name), evil(outside), { mode: 0o755 })
    await withPath(bin, async () => {
      for (const tool of nodeTools({ root, bash: hasBubblewrap ? {} : { sandbox: 'none' } })) {
        if (tool.name === 'bash') await tool.execute({ command: 'true' }, toolContext())
        if (tool.name === 'search') await tool.execute({ pattern: 'x' }, toolContext())
      }
      await bashTool({ root, sandbox: 'none' }).execute({ command: 'true' }, toolContext())
    })
    expect(existsSync(join(outside, 'pwned'))).toBe(false)
  })

  it.skipIf(!hasBubblewrap)('looks programs up once, so a command cannot plant one for later', async () => {
    const { root, outside, run } = shell()
    await withPath(join(root, 'bin'), async () => {
      await run(`mkdir bin; printf '${evil(outside).replaceAll('\n', '\\n')}' > bin/bwrap; chmod +x bin/bwrap`)
      await run('true')
    })
    expect(existsSync(join(root, 'bin/bwrap'))).toBe(true)
    expect(existsSync(join(outside, 'pwned'))).toBe(false)
  })

  it('rejects a program inside the root, writable by everyone or with a relative path', () => {
    const { root, outside } = temporaryRoot()
    const inside = join(root, 'bwrap')
    writeFileSync(inside, evil(outside), { mode: 0o755 })
    symlinkSync(inside, join(outside, 'link'))
    symlinkSync('/bin/sh', join(root, 'sh'))
    writeFileSync(join(outside, 'open'), evil(outside), { mode: 0o755 })
    chmodSync(join(outside, 'open'), 0o777)
    for (const bwrap of [inside, join(outside, 'link'), join(root, 'sh'), join(root, '../root/bwrap')]) {
      expect(() => bashTool({ root, programs: { bwrap } }), bwrap).toThrow(/bwrap: it lies in .*, where tools can write/)
      expect(() => ripgrepSearcher(root, { programs: { rg: bwrap } }), bwrap).toThrow(/rg: it lies in/)
      expect(() => bashTool({ root, sandbox: 'none', programs: { bash: bwrap } }), bwrap).toThrow(/bash: it lies in/)
    }
    expect(() => bashTool({ root, programs: { bwrap: join(outside, 'open') } })).toThrow(/anyone can write/)
    expect(() => bashTool({ root, programs: { bwrap: 'bwrap' } })).toThrow(/not an absolute path/)
    expect(() => bashTool({ root, programs: { bwrap: join(outside, 'missing') } })).toThrow(
      expect.objectContaining({ name: 'ConfigError', code: 'invalidOption' }),
    )
  })

  it.skipIf(!hasRipgrep)('uses the programs given in the options', async () => {
    const { root } = temporaryRoot()
    writeFileSync(join(root, 'a.txt'), 'needle')
    const search = ripgrepSearcher(root, { programs: { rg: '/usr/bin/rg' } })
    const query = { pattern: 'needle', path: '.', caseSensitive: false, maxResults: 5, signal: new AbortController().signal }
    expect((await search?.(query))?.matches).toHaveLength(1)
  })
})
