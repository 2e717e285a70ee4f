import { describe, expect, it } from 'vitest'
import { opfsWorkspace } from '../../adapters/browser/index.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { editFileTool, writeFileTool } from '../../src/tools.ts'
import { workspaceSuite } from '../../testing/index.ts'

const create = () => opfsWorkspace({ directory: `test/${crypto.randomUUID()}` })
const text = (value: string) => new TextEncoder().encode(value)

const isHere = typeof navigator.storage?.getDirectory === 'function'
if (!isHere) console.warn('opfsWorkspace was not tested: this browser has no origin private file system.')
const here = { describe: describe.skipIf(!isHere), it, expect }

workspaceSuite(here, { name: 'opfsWorkspace', create })

describe.runIf(!isHere)('opfsWorkspace without a file system', () => {
  it('rejects and suggests memoryWorkspace if storage is unavailable', async () => {
    await expect(create().read('f')).rejects.toMatchObject({ code: 'io', message: expect.stringContaining('memoryWorkspace') })
  })
})

here.describe('opfsWorkspace', () => {
  it('shares files only between workspaces on the same directory', async () => {
    const directory = crypto.randomUUID()
    await opfsWorkspace({ directory }).write('a/b.txt', text('kept'))
    expect(new TextDecoder().decode(await opfsWorkspace({ directory }).read('a/b.txt'))).toBe('kept')
    await expect(create().read('a/b.txt')).rejects.toMatchObject({ code: 'notFound' })
  })

  it('lets exactly one of twenty concurrent writers succeed', async () => {
    const directory = crypto.randomUUID()
    const { version } = await opfsWorkspace({ directory }).write('f', text('base'))
    const write = (_: unknown, at: number) => opfsWorkspace({ directory }).write('f', text(String(at)), { ifMatch: version })
    const done = await Promise.allSettled(Array.from({ length: 20 }, write))
    expect(done.filter(({ status }) => status === 'fulfilled').length).toBe(1)
  })

  it('returns the old or the new file during a write', async () => {
    const workspace = create()
    const versions = ['a', 'b'].map((letter) => letter.repeat(200_000))
    await workspace.write('f', text('a'.repeat(200_000)))
    const writes = versions.concat(versions).map((each) => workspace.write('f', text(each)))
    for (let reads = 0; reads < 20; reads++) {
      expect(versions.includes(new TextDecoder().decode(await workspace.read('f')))).toBe(true)
    }
    await Promise.all(writes)
  })

  it('changes nothing if a write is aborted while queued', async () => {
    const workspace = create()
    await workspace.write('f', text('old'))
    const aborter = new AbortController()
    const first = workspace.write('f', text('first'))
    const second = workspace.write('f', text('second'), { signal: aborter.signal })
    aborter.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    await first
    expect(new TextDecoder().decode(await workspace.read('f'))).toBe('first')
  })

  it.each([{ directory: '../up' }, { directory: '/root' }, { directory: 'a\\b' }])('rejects %j as its root directory', (options) => {
    expect(() => opfsWorkspace(options)).toThrow(/path/)
  })

  it('rejects unknown options and names them', () => {
    expect(() => opfsWorkspace(JSON.parse('{"folder":"x"}'))).toThrow(/folder/)
  })

  it("serves an agent's file tools", async () => {
    const workspace = create()
    const model = scripted([
      { toolCalls: [{ name: 'write_file', arguments: { path: 'notes.md', content: 'one\ntwo\n' } }] },
      { toolCalls: [{ name: 'edit_file', arguments: { path: 'notes.md', old_text: 'two', new_text: 'three' } }] },
      { text: 'done' },
    ])
    const result = await new Agent({ model, tools: [writeFileTool({ workspace }), editFileTool({ workspace })] }).prompt('go').result
    expect(result.status).toBe('completed')
    expect(new TextDecoder().decode(await workspace.read('notes.md'))).toBe('one\nthree\n')
  })
})
