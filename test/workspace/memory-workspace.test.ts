import { describe, expect, it } from 'vitest'
import { memoryWorkspace } from '../../src/workspace/memory-workspace.ts'
import { workspaceSuite } from '../../testing/workspace-suite.ts'

workspaceSuite({ describe, it, expect }, { name: 'memory', create: () => memoryWorkspace() })

describe('memoryWorkspace', () => {
  it('starts with the given files, encoding strings as UTF-8', async () => {
    const workspace = memoryWorkspace({ 'a/ü.txt': 'é', b: new Uint8Array([1, 2]) })
    expect([...(await workspace.read('a/ü.txt'))]).toEqual([0xc3, 0xa9])
    expect([...(await workspace.read('b'))]).toEqual([1, 2])
  })

  it('never reuses a version of a removed file', async () => {
    const workspace = memoryWorkspace({ f: 'one' })
    const { version } = await workspace.stat('f')
    await workspace.remove('f')
    expect((await workspace.write('f', new Uint8Array())).version).not.toBe(version)
  })

  it('refuses to remove its root', async () => {
    await expect(memoryWorkspace({ f: '' }).remove('.')).rejects.toMatchObject({ code: 'outside' })
  })
})
