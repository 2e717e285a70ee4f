import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { nodeWorkspace } from '../../../../adapters/node/index.ts'
import { failureOf, temporaryRoot } from '../temporary.ts'
import { hasBubblewrap } from './shell.ts'

/** Installs this package under `at` in a workspace and runs there the tools over the whole workspace: every file and command is tried. */
async function attempts(at: string, files: readonly string[], commands: readonly string[]): Promise<string[]> {
  const { root } = temporaryRoot()
  const app = join(root, at)
  const home = join(app, 'node_modules/phi-core')
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const entry = join(home, 'dist/adapters/node/index.js')
  await build({ entryPoints: ['adapters/node/index.ts'], outfile: entry, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' })
  put(join(home, 'package.json'), '{"name":"phi-core","type":"module"}')
  put(join(app, 'node_modules/other/index.js'), '')
  put(join(app, 'package-lock.json'), '{}')
  put(
    join(app, 'agent.mjs'),
    `import { nodeTools, nodeWorkspace } from ${JSON.stringify(entry)}
    const [root, files, commands] = JSON.parse(process.argv[2])
    const workspace = nodeWorkspace(root)
    const [bash] = nodeTools({ root, bash: { needsApproval: false } })
    const signal = new AbortController().signal
    const done = []
    for (const path of files) {
      await workspace.write(path, new Uint8Array()).then(() => done.push(path), () => {})
    }
    for (const command of commands) {
      const { details } = await bash.execute({ command }, { signal, update() {} })
      if (details.success) done.push(command)
    }
    console.log(JSON.stringify(done))`,
  )
  const output = execFileSync(process.execPath, [join(app, 'agent.mjs'), JSON.stringify([root, files, commands])], { encoding: 'utf8' })
  const done: string[] = JSON.parse(output)
  return done
}

describe('files of the running package', () => {
  it.skipIf(!hasBubblewrap)('rejects changes to itself, its dependencies and the lock file', async () => {
    const files = [
      'node_modules/phi-core/dist/adapters/node/index.js',
      'node_modules/other/index.js',
      'node_modules/new/x.js',
      'package-lock.json',
    ]
    const commands = [
      ...files.map((path) => `echo evil > ${path}`),
      'mkdir node_modules/re2js',
      'mv node_modules old',
      'rm -rf node_modules',
      'rm package-lock.json',
      'echo {} > x && mv x package-lock.json',
    ]
    expect(await attempts('.', [...files, 'src/fine.js'], [...commands, 'echo fine > fine'])).toEqual(['src/fine.js', 'echo fine > fine'])
  })

  it.skipIf(!hasBubblewrap)('rejects replacing a parent directory of the package', async () => {
    const files = ['packages/app/node_modules/other/index.js', 'packages/app/package-lock.json']
    const commands = [
      ...files.map((path) => `echo evil > ${path}`),
      'mv packages old',
      'mv packages/app packages/old',
      'cp -r packages copy && rm -rf packages',
    ]
    expect(await attempts('packages/app', [...files, 'packages/app/x'], [...commands, 'echo fine > packages/app/fine'])).toEqual([
      'packages/app/x',
      'echo fine > packages/app/fine',
    ])
  })

  it('protects the code, dependencies and lock file of this repository', async () => {
    const workspace = nodeWorkspace('.')
    for (const path of ['adapters/node/new.ts', 'src/new.ts', 'node_modules/new/index.js', 'package-lock.json', 'package.json']) {
      expect(await failureOf(workspace.write(path, new Uint8Array())), path).toBe('protected')
    }
    expect(await failureOf(workspace.remove('src'))).toBe('protected')
    const free = nodeWorkspace('.', { unprotected: ['package-lock.json'] })
    const lock = await free.read('package-lock.json')
    expect(await failureOf(free.write('package-lock.json', lock, { ifMatch: 'no such version' }))).toBe('conflict')
  })
})
