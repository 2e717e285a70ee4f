import { PhiError } from '../src/contract/errors.ts'
import type { Workspace } from '../src/types/tool/workspace.ts'
import type { TestRunner } from './test-runner.ts'

/** Options for `workspaceSuite`: the workspace to test. */
export interface WorkspaceSuiteOptions {
  /** Name in the test report. */
  name: string
  /** Creates a new, empty workspace for each test. */
  create: () => Workspace | Promise<Workspace>
}

const text = (value: string) => new TextEncoder().encode(value)
const decode = (value: Uint8Array) => new TextDecoder().decode(value)

/** Returns the error code of a call, or `fulfilled`. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'fulfilled'
  } catch (error) {
    return PhiError.isInstance(error) ? error.code : `not a PhiError: ${String(error)}`
  }
}

const refusedPaths = [
  '/etc/passwd',
  '../secret',
  'a/../../secret',
  'a/b/../../../secret',
  '..\\secret',
  'a\\..\\..\\secret',
  'a\0b',
  'C:secret',
  'C:/secret',
  '\\\\?\\C:\\secret',
  'file.txt::$DATA',
  'CON',
  'a/nul.txt',
  'com1',
]

/** Tests the `Workspace` contract. Source: docs/guides/files-and-bash.md */
export function workspaceSuite(runner: TestRunner, options: WorkspaceSuiteOptions): void {
  runner.describe(`Workspace: ${options.name}`, () => {
    readingAndWriting(runner, options)
    conditionalWrites(runner, options)
    directories(runner, options)
    refusals(runner, options)
    aborts(runner, options)
  })
}

function readingAndWriting({ it, expect }: TestRunner, { create }: WorkspaceSuiteOptions): void {
  it('reads written bytes back unchanged', async () => {
    const workspace = await create()
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    await workspace.write('bytes.bin', bytes)
    expect([...(await workspace.read('bytes.bin'))]).toEqual([...bytes])
    await workspace.write('empty', new Uint8Array())
    expect((await workspace.read('empty')).length).toBe(0)
  })

  it('creates parent directories', async () => {
    const workspace = await create()
    await workspace.write('a/b/c.txt', text('deep'))
    expect(decode(await workspace.read('a/b/c.txt'))).toBe('deep')
    expect((await workspace.stat('a/b')).kind).toBe('directory')
  })

  it('replaces the whole file', async () => {
    const workspace = await create()
    await workspace.write('f', text('a long first content'))
    await workspace.write('f', text('short'))
    expect(decode(await workspace.read('f'))).toBe('short')
  })

  it('reads ranges with inclusive start and exclusive end, up to the end of the file', async () => {
    const workspace = await create()
    await workspace.write('f', text('0123456789'))
    const range = async (start?: number, end?: number) =>
      decode(await workspace.read('f', { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }))
    expect(await range(2, 5)).toBe('234')
    expect(await range(7)).toBe('789')
    expect(await range(undefined, 3)).toBe('012')
    expect(await range(8, 100)).toBe('89')
    expect(await range(10, 20)).toBe('')
    expect(await range(50)).toBe('')
    expect(await range(4, 4)).toBe('')
  })

  it('stores copies, so that later changes to an array do not change the file', async () => {
    const workspace = await create()
    const input = text('abc')
    await workspace.write('f', input)
    input[0] = 0
    const output = await workspace.read('f')
    output[1] = 0
    expect(decode(await workspace.read('f'))).toBe('abc')
  })

  it('accepts file names in any script and names of Object.prototype members', async () => {
    const workspace = await create()
    for (const name of ['grüße 日本 🙂.txt', '__proto__', 'constructor', 'with space/-delete', '--pre=x']) {
      await workspace.write(name, text(name))
      expect(decode(await workspace.read(name))).toBe(name)
    }
  })

  it('treats equivalent paths as the same file', async () => {
    const workspace = await create()
    await workspace.write('./a//b/../f.txt', text('one'))
    expect(decode(await workspace.read('a/f.txt'))).toBe('one')
    expect((await workspace.stat('a/')).kind).toBe('directory')
  })
}

function conditionalWrites({ it, expect }: TestRunner, { create }: WorkspaceSuiteOptions): void {
  it('returns the same version from write and stat, and a new one for new content', async () => {
    const workspace = await create()
    const first = await workspace.write('f', text('one'))
    expect(first.kind).toBe('file')
    expect(first.size).toBe(3)
    expect((await workspace.stat('f')).version).toBe(first.version)
    const second = await workspace.write('f', text('two'))
    expect(second.version === first.version).toBe(false)
    expect((await workspace.stat('f')).version).toBe(second.version)
  })

  it('writes only if the version matches', async () => {
    const workspace = await create()
    const first = await workspace.write('f', text('one'))
    await workspace.write('f', text('two'), { ifMatch: first.version })
    expect(await codeOf(workspace.write('f', text('three'), { ifMatch: first.version }))).toBe('conflict')
    expect(decode(await workspace.read('f'))).toBe('two')
  })

  it('creates a file with version null only if the path is free', async () => {
    const workspace = await create()
    await workspace.write('f', text('one'), { ifMatch: null })
    expect(await codeOf(workspace.write('f', text('two'), { ifMatch: null }))).toBe('conflict')
    expect(decode(await workspace.read('f'))).toBe('one')
  })

  it('does not create a missing file or its directories if a version is given', async () => {
    const workspace = await create()
    expect(await codeOf(workspace.write('d/f', text('x'), { ifMatch: 'no such version' }))).toBe('conflict')
    expect(await codeOf(workspace.stat('d/f'))).toBe('notFound')
  })

  it('accepts only one of two concurrent writes with the same version', async () => {
    const workspace = await create()
    const { version } = await workspace.write('f', text('base'))
    const codes = await Promise.all(['a', 'b'].map((value) => codeOf(workspace.write('f', text(value), { ifMatch: version }))))
    expect(codes.sort()).toEqual(['conflict', 'fulfilled'])
  })
}

function directories({ it, expect }: TestRunner, { create }: WorkspaceSuiteOptions): void {
  it('lists direct children, sorted by path, relative to the root', async () => {
    const workspace = await create()
    for (const path of ['z.txt', 'a/2.txt', 'a/1.txt', 'a/sub/x.txt', 'B.txt']) await workspace.write(path, text(path))
    expect(await workspace.list('.')).toEqual([
      { path: 'B.txt', kind: 'file' },
      { path: 'a', kind: 'directory' },
      { path: 'z.txt', kind: 'file' },
    ])
    expect((await workspace.list('a/')).map((entry) => entry.path)).toEqual(['a/1.txt', 'a/2.txt', 'a/sub'])
  })

  it('starts with an empty root', async () => {
    const workspace = await create()
    expect(await workspace.list('.')).toEqual([])
    expect((await workspace.stat('.')).kind).toBe('directory')
  })

  it('reports size 0 for directories', async () => {
    const workspace = await create()
    await workspace.write('d/f', text('x'))
    expect((await workspace.stat('d')).size).toBe(0)
  })

  it('removes a file', async () => {
    const workspace = await create()
    await workspace.write('d/a', text('a'))
    await workspace.write('d/b', text('b'))
    await workspace.remove('d/a')
    expect((await workspace.list('d')).map((entry) => entry.path)).toEqual(['d/b'])
  })

  it('removes a directory and its contents', async () => {
    const workspace = await create()
    await workspace.write('d/e/f', text('x'))
    await workspace.remove('d')
    expect(await codeOf(workspace.stat('d'))).toBe('notFound')
    expect(await codeOf(workspace.read('d/e/f'))).toBe('notFound')
  })
}

function refusals({ it, expect }: TestRunner, { create }: WorkspaceSuiteOptions): void {
  for (const path of refusedPaths) {
    it(`rejects ${JSON.stringify(path)} in every method`, async () => {
      const workspace = await create()
      await workspace.write('a/b/inside', text('x'))
      expect(await codeOf(workspace.read(path))).toBe('outside')
      expect(await codeOf(workspace.write(path, text('x')))).toBe('outside')
      expect(await codeOf(workspace.stat(path))).toBe('outside')
      expect(await codeOf(workspace.list(path))).toBe('outside')
      expect(await codeOf(workspace.remove(path))).toBe('outside')
      expect((await workspace.list('.')).map((entry) => entry.path)).toEqual(['a'])
    })
  }

  it('rejects with notFound for missing paths', async () => {
    const workspace = await create()
    const calls = [workspace.read('f'), workspace.stat('f'), workspace.list('f'), workspace.remove('f')]
    expect(await Promise.all(calls.map(codeOf))).toEqual(['notFound', 'notFound', 'notFound', 'notFound'])
  })

  it('rejects with wrongKind for a directory in place of a file and vice versa', async () => {
    const workspace = await create()
    await workspace.write('d/f', text('x'))
    expect(await codeOf(workspace.read('d'))).toBe('wrongKind')
    expect(await codeOf(workspace.write('d', text('x')))).toBe('wrongKind')
    expect(await codeOf(workspace.list('d/f'))).toBe('wrongKind')
    expect(await codeOf(workspace.write('d/f/g', text('x')))).toBe('wrongKind')
    expect(decode(await workspace.read('d/f'))).toBe('x')
  })
}

function aborts({ it, expect }: TestRunner, { create }: WorkspaceSuiteOptions): void {
  it('rejects with the reason of an aborted signal and changes no files', async () => {
    const workspace = await create()
    await workspace.write('f', text('x'))
    const reason = new Error('stopped by the test')
    const signal = AbortSignal.abort(reason)
    const calls = [
      workspace.read('f', { signal }),
      workspace.write('f', text('y'), { signal }),
      workspace.write('g', text('y'), { signal }),
      workspace.stat('f', { signal }),
      workspace.list('.', { signal }),
      workspace.remove('f', { signal }),
    ]
    const settled = await Promise.allSettled(calls)
    expect(settled.every((outcome) => outcome.status === 'rejected' && outcome.reason === reason)).toBe(true)
    expect(decode(await workspace.read('f'))).toBe('x')
    expect((await workspace.list('.')).map((entry) => entry.path)).toEqual(['f'])
  })
}
