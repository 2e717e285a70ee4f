import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { bashTool, nodeWorkspace } from '../../../../adapters/node/index.ts'
import { failureOf, temporaryRoot, toolContext } from '../temporary.ts'
import { gitStatus, hasBubblewrap, hasGit, plantBare, plantCommon, shell, shellElsewhere, succeeded } from './shell.ts'

const bundle = join(tmpdir(), `phi-core-${process.pid}.mjs`)
afterAll(() => rmSync(bundle, { force: true }))

const bytes = (text: string) => new TextEncoder().encode(text)

// Written out, so that an entry that goes missing in the list fails here.
const files = `
  .aider.conf.yml .bash_aliases .bash_login .bash_logout .bash_profile .bashrc .clinerules .cursorrules .envrc .exrc .gitconfig .gitmodules
  .lefthook.yml .mcp.json .mise.toml .npmrc .nvim.lua .nvimrc .pnpmfile.cjs .pre-commit-config.yaml .profile .ripgreprc .tool-versions .vimrc
  .windsurfrules .yarnrc .yarnrc.yml .zlogin .zlogout .zprofile .zshenv .zshrc
  AGENTS.md AGENTS.override.md CLAUDE.local.md CLAUDE.md GEMINI.md mise.toml`
  .trim()
  .split(/\s+/)
const directories = `
  .agents .cargo .claude .codex .cursor .devcontainer .gemini .git .githooks .husky .idea .mise .vscode .windsurf .zed`
  .trim()
  .split(/\s+/)

describe('protected names in file tools', () => {
  it('equals the documented list of names', () => {
    const page = readFileSync(new URL('../../../../docs/guides/files-and-bash.md', import.meta.url), 'utf8')
    const table = /\n\| Shells [\s\S]*?\n\n/.exec(page)?.[0] ?? ''
    const named = [...table.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    const parts = ['HEAD', 'objects', 'refs', 'commondir']
    expect(named.filter((name) => !parts.includes(name)).toSorted()).toEqual([...files, ...directories].toSorted())
  })

  it('rejects protected names at any depth, as files and as directories', async () => {
    const workspace = nodeWorkspace(temporaryRoot().root)
    for (const name of [...files, ...directories]) {
      for (const path of [name, `${name}/x`, `a/${name}`, `a/b/${name}/c`]) {
        expect(await failureOf(workspace.write(path, bytes('evil'))), path).toBe('protected')
      }
    }
  })

  it('allows a name only if it is known and listed in unprotected', async () => {
    const { root } = temporaryRoot()
    const workspace = nodeWorkspace(root, { unprotected: ['.vscode', '.git'] })
    expect(await failureOf(workspace.write('.vscode/settings.json', bytes('{}')))).toBe('fulfilled')
    expect(await failureOf(workspace.write('.git/HEAD', bytes('ref: x')))).toBe('fulfilled')
    expect(await failureOf(workspace.write('.git/config', bytes('x')))).toBe('fulfilled')
    expect(await failureOf(workspace.write('.npmrc', bytes('x')))).toBe('protected')
    expect(() => nodeWorkspace(root, { unprotected: ['.vsc'] })).toThrow(/"\.vsc" is not protected\. Known: .*\.vscode/)
  })

  it('rejects removing a directory that contains a protected name', async () => {
    const { root } = temporaryRoot()
    mkdirSync(join(root, 'a/b/.git'), { recursive: true })
    writeFileSync(join(root, 'a/first'), 'x')
    expect(await failureOf(nodeWorkspace(root).remove('a'))).toBe('protected')
    expect(readdirSync(join(root, 'a')).sort()).toEqual(['b', 'first'])
  })
})

describe('git directories in file tools', () => {
  it('rejects completing a git directory in any order at any depth', async () => {
    const { root } = temporaryRoot()
    const workspace = nodeWorkspace(root)
    const parts = ['objects/x', 'refs/heads/main', 'config', 'HEAD']
    for (const place of ['', 'sub/', 'deep/er/']) {
      for (const parts_ of [parts, [...parts].reverse()]) {
        for (const part of parts_) await failureOf(workspace.write(place + part, bytes('ref: refs/heads/main\n')))
        expect(existsSync(join(root, place, 'HEAD')), place).toBe(false)
      }
    }
    expect(await failureOf(workspace.write('HeAd', bytes('x')))).toBe('protected')
    expect(await failureOf(workspace.write('head/title.ts', bytes('x')))).toBe('fulfilled')
  })

  it('rejects changes to a directory with a HEAD file, also through links', async () => {
    const { root } = temporaryRoot()
    const workspace = nodeWorkspace(root)
    mkdirSync(join(root, 'fixtures/repo/hooks'), { recursive: true })
    writeFileSync(join(root, 'fixtures/repo/HEAD'), 'ref: refs/heads/main\n')
    symlinkSync('fixtures/repo', join(root, 'link'))
    symlinkSync('fixtures/repo/hooks', join(root, 'hooks-link'))
    for (const path of ['objects/x', 'refs/x', 'commondir', 'config', 'config.worktree', 'hooks/post-checkout']) {
      for (const place of ['fixtures/repo', 'link']) {
        expect(await failureOf(workspace.write(`${place}/${path}`, bytes('x'))), path).toBe('protected')
      }
    }
    expect(await failureOf(workspace.write('hooks-link/post-checkout', bytes('x')))).toBe('protected')
    expect(await failureOf(workspace.write('fixtures/repo/readme.md', bytes('x')))).toBe('fulfilled')
    expect(await failureOf(workspace.write('fixtures/config', bytes('x')))).toBe('fulfilled')
  })
})

describe.skipIf(!hasBubblewrap)('protected names in bash', () => {
  it('rejects creating protected names at the root', async () => {
    const { root, run } = shell()
    const commands = [...files.map((name) => `echo evil > ${name}`), ...directories.map((name) => `echo evil > ${name}/settings.json`)]
    expect(await run(commands.map((command) => `if { ${command}; } 2>/dev/null; then echo 'DONE: ${command}'; fi`).join('\n'))).toBe(
      'Exit code: 0\n',
    )
    expect(readdirSync(root)).toEqual([])
  })

  it('reserves protected names at the root while any process runs a command there', async () => {
    const { root, run } = shell()
    const other = shellElsewhere(root, 'touch ready; until [ -e go ]; do sleep 0.01; done; echo evil > .bashrc || touch refused')
    const ended = new Promise((resolve) => other.once('exit', resolve))
    while (!existsSync(join(root, 'ready'))) await new Promise(setImmediate)
    await run('true')
    expect(readdirSync(root)).toEqual(expect.arrayContaining(['.bashrc', '.git', '.mcp.json']))
    writeFileSync(join(root, 'go'), '')
    await ended
    expect(readdirSync(root).sort()).toEqual(['go', 'ready', 'refused'])
  })

  it('rejects changes below the root and replacing a parent directory', async () => {
    const { root, run } = shell()
    for (const path of ['sub/.npmrc', 'sub/.claude/settings.json', 'sub/deep/.git/config', 'a/.envrc']) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), 'original')
    }
    const commands = [
      'echo evil > sub/.npmrc',
      'rm sub/.npmrc',
      'echo evil > x && mv x sub/.npmrc',
      'ln a/.envrc y && echo evil > y',
      'rm -rf sub',
      'mv sub/.claude sub/old',
      'echo evil > sub/.claude/settings.json',
      'touch sub/deep/.git/hooks',
    ]
    expect(await succeeded(run, commands)).toEqual([])
    const output = await run(
      'mv a b && mkdir a && echo evil > a/.envrc && mv sub other && mkdir -p sub/.claude && echo evil > sub/.claude/x',
    )
    expect(output).toContain('Renamed to ….blocked')
    expect(existsSync(join(root, 'a/.envrc'))).toBe(false)
    expect(existsSync(join(root, 'sub/.claude'))).toBe(false)
    expect(readFileSync(join(root, 'b/.envrc'), 'utf8')).toBe('original')
    expect(readFileSync(join(root, 'other/deep/.git/config'), 'utf8')).toBe('original')
  })

  it('renames protected files that a command creates below the root, even if it times out', async () => {
    const { root, tool, run } = shell({ timeoutMs: 1000 })
    const result = await tool.execute({ command: 'mkdir -p p/.vscode p/.husky; echo evil > p/.npmrc; echo fine > p/ok' }, toolContext())
    expect(result).toMatchObject({ details: { exit_code: 0, renamed: ['p/.husky', 'p/.npmrc', 'p/.vscode'] } })
    expect(await failureOf(run('mkdir -p q; echo evil > q/.envrc; sleep 309.25'))).toMatch(/^timeout/)
    const names = readdirSync(root, { recursive: true }).map((name) => String(name).replace(/blocked-\w{8}$/, 'blocked'))
    expect(names.sort()).toEqual(['p', 'p/.husky.blocked', 'p/.npmrc.blocked', 'p/.vscode.blocked', 'p/ok', 'q', 'q/.envrc.blocked'])
  })

  it('lists some of the renamed files on one line', async () => {
    const { run } = shell()
    const output = await run("mkdir -p $'a\\nExit code: 0\\e[2J'; cd a*; for i in $(seq 30); do mkdir d$i; touch d$i/.npmrc; done")
    expect(output.split('\n')).toHaveLength(3)
    expect(output).toMatch(/a\\u\{a\}Exit code: 0\\u\{1b\}\[2J\/d\d+\/\.npmrc, .* and 10 more\n$/)
  })

  // As root nothing is closed to us, so the tool runs as somebody else.
  it.skipIf(process.getuid?.() !== 0)('finds protected names despite permissions that a command removed', async () => {
    const { root } = temporaryRoot()
    chmodSync(dirname(root), 0o755)
    chownSync(root, 65534, 65534)
    const closed = temporaryRoot().root
    chmodSync(dirname(closed), 0o755)
    chownSync(closed, 65534, 65534)
    chmodSync(closed, 0o555)
    const script = `
      import { bashTool } from ${JSON.stringify(bundle)}
      const run = (root, command) => bashTool({ root }).execute({ command }, { signal: new AbortController().signal, update() {} })
        .then((result) => result.content[0].text, (error) => error.message)
      const hide = 'mkdir -p s/d t; touch s/.npmrc t/.envrc; chmod 555 s; chmod 333 t; git init -q g; chmod 333 g/.git; chmod 333 g'
      const [root, closed] = ${JSON.stringify([root, closed])}
      console.log(JSON.stringify([await run(root, hide), await run(closed, 'chmod 755 .; mkdir -p .git/hooks')]))`
    await build({
      entryPoints: ['adapters/node/index.ts'],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    })
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      uid: 65534,
      gid: 65534,
      cwd: '/',
    })
    const [hidden, reopened]: string[] = JSON.parse(output)
    expect(hidden).toContain('Renamed')
    expect(reopened).toMatch(/it is not writable/)
    const names = readdirSync(root, { recursive: true }).map(String)
    expect(names.filter((name) => /(\.npmrc|\.envrc|HEAD)$/.test(name))).toEqual([])
    expect(readdirSync(closed)).toEqual([])
  })

  it('allows unprotected names', async () => {
    const { root, run } = shell({ unprotected: ['.vscode', '.npmrc', '.git', 'HEAD'] })
    await run('mkdir -p sub; for d in . sub; do mkdir -p $d/.vscode; echo ok > $d/.vscode/x; echo ok > $d/.npmrc; git -C $d init -q; done')
    expect(readdirSync(root, { recursive: true }).map(String)).toEqual(
      expect.arrayContaining(['.vscode/x', '.npmrc', '.git/HEAD', 'sub/.vscode/x', 'sub/.npmrc', 'sub/.git/HEAD']),
    )
  })

  it('does not run a command if there are too many protected files', async () => {
    const { root, run } = shell()
    for (let index = 0; index < 501; index++) {
      mkdirSync(join(root, `d${index}`))
      writeFileSync(join(root, `d${index}/.npmrc`), '')
    }
    expect(await failureOf(run('true'))).toMatch(/^failed/)
    const free = bashTool({ root, unprotected: ['.npmrc'] })
    expect(await failureOf(Promise.resolve(free.execute({ command: 'true' }, toolContext())))).toBe('fulfilled')
  })
})

describe.skipIf(!hasBubblewrap || !hasGit)('git directories in bash', () => {
  it('prevents a planted git directory from executing code on git status', async () => {
    const plants = [
      ['.', plantBare('.')],
      ['sub', plantBare('sub')],
      ['deep/er', plantBare('deep/er')],
      ['linked', `${plantBare('real')}; ln -s real linked`],
      ['late', `mkdir late; ${plantBare('late/x')}; mv late/x/* late`],
      ['headlink', `${plantBare('headlink')}; ln -sf refs/heads/main headlink/HEAD`],
      ['common', plantCommon('common')],
      ['tree', plantCommon('tree/.git')],
      ['file', `${plantBare('hidden')}; mkdir file; echo 'gitdir: ../hidden' > file/.git`],
      ['init', 'git init -q init; git -C init config core.fsmonitor "touch pwned; false"'],
    ] as const
    for (const [directory, plant] of plants) {
      const { root } = temporaryRoot()
      const { run } = shell({ root, env: { HOST: root } })
      await run(plant)
      expect(gitStatus(join(root, directory), root), plant).toEqual([])
    }
    // The attempts are real: without a guard they work.
    for (const [directory, plant] of plants) {
      const { root } = temporaryRoot()
      execFileSync('bash', ['-c', plant], { cwd: root })
      expect(gitStatus(join(root, directory), root), plant).not.toEqual([])
    }
  })

  it('finds git directories under names that are not valid UTF-8', async () => {
    const { root } = temporaryRoot()
    const { run } = shell({ root, env: { HOST: root } })
    const plant = "d=$(printf 'bad\\377'); git init -q \"$d\" 2>&1; git -C \"$d\" config core.fsmonitor 'touch '$HOST'/pwned; false'"
    await run(plant)
    execFileSync('bash', ['-c', 'cd "$(printf "bad\\377")" && git status; true'], { cwd: root, stdio: 'ignore' })
    expect(readdirSync(root)).not.toContain('pwned')
    expect(readdirSync(root)).toHaveLength(1)
  })

  it('preserves the settings of existing git directories', async () => {
    const { root, run } = shell()
    execFileSync('git', ['init', '-q', '--bare', 'bare'], { cwd: root })
    execFileSync('git', ['init', '-q', 'nested'], { cwd: root })
    const commands = ['bare/config', 'bare/hooks/post-checkout', 'bare/commondir', 'nested/.git/config'].map(
      (path) => `echo evil >> ${path}`,
    )
    expect(await succeeded(run, [...commands, 'mv bare/HEAD bare/x', 'rm -rf bare', 'rm -rf nested'])).toEqual([])
    expect(await run('echo fine > nested/file')).toBe('Exit code: 0\n')
  })

  it('rejects a bare repository as root and allows refs next to a repository', async () => {
    const { root, run } = shell()
    execFileSync('git', ['init', '-q', '--bare'], { cwd: root })
    expect(await failureOf(run('true'))).toMatch(/^failed/)
    const other = shell()
    execFileSync('git', ['init', '-q'], { cwd: other.root })
    expect(await other.run('mkdir refs; ls -A | grep -x -e HEAD -e refs')).toBe('Exit code: 0\nrefs\n')
  })
})
