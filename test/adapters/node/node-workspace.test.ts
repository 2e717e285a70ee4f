import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { nodeWorkspace } from '../../../adapters/node/index.ts'
import { workspaceSuite } from '../../../testing/workspace-suite.ts'
import { runs } from '../../support/runs.ts'
import { failureOf, temporaryRoot } from './temporary.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (data: Uint8Array) => new TextDecoder().decode(data)
const onLinux = process.platform === 'linux'
if (!onLinux) console.warn('not Linux: the tests of descriptor-based confinement are SKIPPED')

workspaceSuite({ describe, it, expect }, { name: 'node', create: () => nodeWorkspace(temporaryRoot().root) })

function planted() {
  const { root, outside } = temporaryRoot()
  writeFileSync(join(outside, 'secret'), 'SECRET')
  return { root, outside, workspace: nodeWorkspace(root) }
}

async function refusedEverywhere(workspace: ReturnType<typeof nodeWorkspace>, path: string): Promise<string[]> {
  return Promise.all([workspace.read(path), workspace.write(path, bytes('X')), workspace.stat(path), workspace.list(path)].map(failureOf))
}

describe('links in nodeWorkspace', () => {
  it('rejects links that lead out of the root and leaves their targets unchanged', async () => {
    const { root, outside, workspace } = planted()
    symlinkSync(join(outside, 'secret'), join(root, 'file'))
    symlinkSync(outside, join(root, 'dir'))
    symlinkSync('../outside', join(root, 'relative'))
    for (const path of ['file', 'dir/secret', 'relative/secret']) {
      expect(await refusedEverywhere(workspace, path)).toEqual(['outside', 'outside', 'outside', 'outside'])
    }
    expect(await failureOf(workspace.write('dir/new/file', bytes('X')))).toBe('outside')
    expect(await failureOf(workspace.list('dir'))).toBe('outside')
    expect(await failureOf(workspace.remove('dir/secret'))).toBe('outside')
    expect(readdirSync(outside)).toEqual(['secret'])
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET')
  })

  it('rejects a write through a dangling file or directory link', async () => {
    const { root, outside, workspace } = planted()
    symlinkSync(join(outside, 'new'), join(root, 'dangling'))
    expect(await failureOf(workspace.write('dangling', bytes('X')))).toBe('outside')
    expect(await failureOf(workspace.write('dangling/below', bytes('X')))).toBe('outside')
    symlinkSync('not-there', join(root, 'inner'))
    expect(await failureOf(workspace.write('inner', bytes('X')))).toBe('outside')
    expect(readdirSync(outside)).toEqual(['secret'])
  })

  it('follows links within the root for reads and writes', async () => {
    const { root, workspace } = planted()
    mkdirSync(join(root, 'real'))
    writeFileSync(join(root, 'real/file'), 'old')
    symlinkSync('real', join(root, 'dir'))
    symlinkSync('real/file', join(root, 'file'))
    expect(text(await workspace.read('dir/file'))).toBe('old')
    await workspace.write('file', bytes('new'))
    expect(readFileSync(join(root, 'real/file'), 'utf8')).toBe('new')
    await workspace.write('dir/other', bytes('other'))
    expect(readdirSync(join(root, 'real')).sort()).toEqual(['file', 'other'])
    expect((await workspace.list('.')).map((entry) => `${entry.kind} ${entry.path}`)).toEqual(['file file', 'directory real'])
  })

  it('removes a link but not its target', async () => {
    const { root, outside, workspace } = planted()
    mkdirSync(join(root, 'tree/deep'), { recursive: true })
    symlinkSync(outside, join(root, 'tree/deep/link'))
    symlinkSync(outside, join(root, 'link'))
    await workspace.remove('link')
    await workspace.remove('tree')
    expect(readdirSync(root)).toEqual([])
    expect(readdirSync(outside)).toEqual(['secret'])
  })

  it('preserves other hard links to a file that it replaces', async () => {
    const { root, outside, workspace } = planted()
    linkSync(join(outside, 'secret'), join(root, 'hard'))
    await workspace.write('hard', bytes('changed'))
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET')
    expect(text(await workspace.read('hard'))).toBe('changed')
  })
})

describe('special files in nodeWorkspace', () => {
  it.skipIf(!onLinux)('rejects FIFOs, devices and kernel files without opening them', async () => {
    const { root, workspace } = planted()
    execFileSync('mkfifo', [join(root, 'fifo')])
    expect(await refusedEverywhere(workspace, 'fifo')).toEqual(['wrongKind', 'wrongKind', 'wrongKind', 'wrongKind'])
    symlinkSync('/dev/zero', join(root, 'zero'))
    symlinkSync('/proc/self/mem', join(root, 'mem'))
    symlinkSync('/proc/self/root', join(root, 'slash'))
    for (const path of ['zero', 'mem', 'slash/etc/passwd']) expect(await failureOf(workspace.read(path))).toBe('outside')
    expect(await workspace.list('.')).toEqual([])
    const everything = nodeWorkspace('/', { allowSystemRoot: true })
    for (const path of ['dev/zero', 'proc/self/environ']) expect(await failureOf(everything.read(path))).toBe('wrongKind')
  })
})

describe('protected names in nodeWorkspace', () => {
  it('rejects writes and removals in any spelling and at any depth', async () => {
    const { root, workspace } = planted()
    for (const path of [
      '.git/hooks/pre-commit',
      '.GIT/config',
      '.ｇit/x',
      '.g\u200cit/x',
      'git~1/x',
      'sub/.git/config',
      '.mcp.json',
      '.BashRC',
    ]) {
      expect([path, await failureOf(workspace.write(path, bytes('X')))]).toEqual([path, 'protected'])
    }
    expect(readdirSync(root)).toEqual([])
    mkdirSync(join(root, '.git'))
    symlinkSync('.git', join(root, 'alias'))
    expect(await failureOf(workspace.write('alias/hooks/pre-commit', bytes('X')))).toBe('protected')
    expect(await failureOf(workspace.remove('.git'))).toBe('protected')
    expect(readdirSync(join(root, '.git'))).toEqual([])
    await workspace.write('.gitignore', bytes('dist'))
  })
})

describe('files in nodeWorkspace', () => {
  it('reads a range of a 5 GB file without loading it', async () => {
    const { root, workspace } = planted()
    const descriptor = openSync(join(root, 'huge'), 'w')
    ftruncateSync(descriptor, 5 * 2 ** 30)
    closeSync(descriptor)
    const before = process.memoryUsage().arrayBuffers
    expect((await workspace.read('huge', { start: 5 * 2 ** 30 - 3, end: 6 * 2 ** 30 })).length).toBe(3)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20)
    expect((await workspace.stat('huge')).size).toBe(5 * 2 ** 30)
  })

  it('preserves the file mode and leaves no temporary file, even after an abort', async () => {
    const { root, workspace } = planted()
    await workspace.write('run.sh', bytes('one'))
    chmodSync(join(root, 'run.sh'), 0o750)
    await workspace.write('run.sh', bytes('two'))
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o750)
    const controller = new AbortController()
    const stopped = workspace.write('run.sh', new Uint8Array(32 * 2 ** 20), { signal: controller.signal })
    queueMicrotask(() => controller.abort(new Error('stopped')))
    expect(await failureOf(stopped)).toBe('Error: stopped')
    expect(readdirSync(root)).toEqual(['run.sh'])
    expect(readFileSync(join(root, 'run.sh'), 'utf8')).toBe('two')
  })

  it('returns a different version for different file contents', async () => {
    const { workspace } = planted()
    const versions = new Set<string>()
    for (let index = 0; index < 200; index++) versions.add((await workspace.write('f', bytes(String(index % 10)))).version)
    expect(versions.size).toBe(200)
  })

  it('lets exactly one of several concurrent creators succeed', async () => {
    const { workspace } = planted()
    const calls = Array.from({ length: 20 }, (_, index) => failureOf(workspace.write('f', bytes(String(index)), { ifMatch: null })))
    expect((await Promise.all(calls)).sort()).toEqual([...Array.from({ length: 19 }, () => 'conflict'), 'fulfilled'])
  })

  it('accepts names that look like options and lists them unchanged', async () => {
    const { root, workspace } = planted()
    writeFileSync(join(root, 'line\nbreak'), 'x')
    await workspace.write('-delete', bytes('x'))
    expect((await workspace.list('.')).map((entry) => entry.path)).toEqual(['-delete', 'line\nbreak'])
  })

  it('rejects a root that is not a directory', () => {
    const { outside } = planted()
    expect(() => nodeWorkspace(join(outside, 'secret'))).toThrow('not a directory')
    expect(() => nodeWorkspace(join(outside, 'missing'))).toThrow('Create the directory first')
  })
})

// Swaps a directory for a link to the outside, and back, as fast as it can.
const swapper = `
  const { workerData } = require('node:worker_threads')
  const { renameSync, rmSync } = require('node:fs')
  const [dir, link, aside] = ['dir', 'link', 'aside'].map((name) => workerData.root + '/' + name)
  const stop = new Int32Array(workerData.stop)
  // A write that finds no directory makes one; it has to go before the next swap.
  const put = (from) => {
    for (;;) {
      try { return renameSync(from, dir) } catch { try { rmSync(dir, { recursive: true }) } catch {} }
    }
  }
  while (Atomics.load(stop, 0) === 0) {
    renameSync(dir, aside); put(link)
    renameSync(dir, link); put(aside)
  }
`

describe('races in nodeWorkspace', () => {
  it.skipIf(!onLinux)('stays inside the root while another thread swaps a directory for a link', async () => {
    const { root, outside, workspace } = planted()
    mkdirSync(join(root, 'dir'))
    writeFileSync(join(root, 'dir/secret'), 'inside')
    symlinkSync(outside, join(root, 'link'))
    const stop = new SharedArrayBuffer(4)
    const worker = new Worker(swapper, { eval: true, workerData: { root, stop } })
    const ended = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
    const outcomes = new Map<string, number>()
    let escapes = 0
    const rounds = runs(400, 3000)
    for (let round = 0; round < rounds; round++) {
      const read = workspace.read('dir/secret').then((data) => {
        if (text(data) === 'SECRET') escapes++
      })
      const calls = [
        read,
        round % 3 === 0 ? workspace.write('dir/planted', bytes('X')) : workspace.list('dir'),
        round % 10 === 0 ? workspace.remove('dir/planted') : workspace.stat('dir/secret'),
      ]
      for (const outcome of await Promise.all(calls.map(failureOf))) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    Atomics.store(new Int32Array(stop), 0, 1)
    await ended
    expect(escapes).toBe(0)
    expect(readdirSync(outside)).toEqual(['secret'])
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET')
    // The race really took place: both sides of it were seen.
    expect(outcomes.get('fulfilled')).toBeGreaterThan(0)
    expect(outcomes.get('outside')).toBeGreaterThan(0)
  })

  it.skipIf(!onLinux)('removes nothing outside the root while a subdirectory becomes a link', async () => {
    const { root, outside, workspace } = planted()
    for (let round = 0; round < 200; round++) {
      mkdirSync(join(root, 'tree/dir'), { recursive: true })
      writeFileSync(join(root, 'tree/dir/secret'), 'inside')
      symlinkSync(outside, join(root, 'tree/link'))
      const removal = failureOf(workspace.remove('tree'))
      for (let step = 0; step < round % 20; step++) await new Promise(setImmediate)
      try {
        renameSync(join(root, 'tree/dir'), join(root, 'aside'))
        renameSync(join(root, 'tree/link'), join(root, 'tree/dir'))
      } catch {
        // Already removed.
      }
      await removal
      await failureOf(workspace.remove('tree'))
      await failureOf(workspace.remove('aside'))
    }
    expect(readdirSync(outside)).toEqual(['secret'])
  })
})
