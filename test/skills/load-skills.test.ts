import { describe, expect, it } from 'vitest'
import {
  type LoadSkillsOptions,
  loadSkillDir,
  loadSkills,
  memoryWorkspace,
  readFileTool,
  type Workspace,
  WorkspaceError,
} from '../../src/tools.ts'
import { checkedOptions } from '../options/surface.ts'
import { context, textOf } from '../tools/context.ts'

const skill = (name: string, description = `About ${name}.`) => `---\nname: ${name}\ndescription: ${description}\n---\nHow to ${name}.\n`
const files = { 'skills/web/SKILL.md': skill('web'), 'skills/git/SKILL.md': skill('git'), 'skills/README.md': 'Ours.' }
const names = (set: Awaited<ReturnType<typeof loadSkills>>) => set.skills.map(({ name }) => name)

/** A workspace that behaves differently in places. */
function with_(workspace: Workspace, changes: Partial<Workspace>): Workspace {
  return { ...workspace, ...changes }
}

describe('loadSkills', () => {
  it('finds folders with a SKILL.md, sorted by name', async () => {
    const workspace = memoryWorkspace({ ...files, 'skills/none/notes.md': 'x', 'skills/deep/er/SKILL.md': skill('er') })
    const set = await loadSkills(workspace, ['skills'])
    expect(names(set)).toEqual(['git', 'web'])
    expect(set.get('git')).toMatchObject({
      name: 'git',
      description: 'About git.',
      location: 'skills/git/SKILL.md',
      baseDir: 'skills/git',
      source: 'skills',
    })
    expect([set.warnings, set.errors]).toEqual([[], []])
  })

  it('returns locations that read_file of the same workspace accepts', async () => {
    const workspace = memoryWorkspace({ ...files, './more skills/a & b/SKILL.md': skill('a') })
    const set = await loadSkills(workspace, ['./skills/', 'more skills'])
    for (const { location, name } of set.skills) {
      const result = await readFileTool({ workspace }).execute({ path: location }, context())
      expect(textOf(result)).toContain(`How to ${name}.`)
    }
    expect(set.skills).toHaveLength(3)
  })

  it('accepts a directory that is itself a skill, including the root', async () => {
    const workspace = memoryWorkspace({ 'SKILL.md': skill('all'), 'git/skill.md': skill('git') })
    expect((await loadSkills(workspace, ['git'])).skills).toMatchObject([{ name: 'git', location: 'git/skill.md', baseDir: 'git' }])
    const root = await loadSkills(workspace, ['.'])
    expect(root.skills).toMatchObject([{ location: 'SKILL.md', baseDir: '.' }, { location: 'git/skill.md' }])
    expect(root.warnings).toEqual([])
  })

  it('prefers the later of two skills with the same name, and reports the other', async () => {
    const workspace = memoryWorkspace({
      'a/git/SKILL.md': skill('git', 'old'),
      'b/git/SKILL.md': skill('git', 'new'),
      'b/x/SKILL.md': skill('x'),
    })
    const set = await loadSkills(workspace, ['a', 'b'])
    expect(set.skills.map(({ description }) => description)).toEqual(['new', 'About x.'])
    expect(set.warnings).toEqual([{ code: 'shadowed', path: 'a/git/SKILL.md', message: expect.stringContaining('b/git/SKILL.md (b)') }])
    expect((await loadSkills(workspace, ['b', 'a'])).get('git')?.description).toBe('old')
  })

  it('skips missing directories', async () => {
    const set = await loadSkills(memoryWorkspace(files), ['nowhere', 'skills', 'no/where'])
    expect(names(set)).toEqual(['git', 'web'])
    expect(set.errors).toEqual([])
  })

  it('reports invalid skills and keeps the others', async () => {
    const workspace = memoryWorkspace({
      ...files,
      'skills/a/SKILL.md': 'no frontmatter',
      'skills/b/SKILL.md': '---\ndescription: d\n---\n',
      'skills/c/SKILL.md': '---\nname: c\n---\n',
      'skills/d/SKILL.md': '---\nname: [d\n---\n',
      'skills/e/SKILL.md': new Uint8Array([0xff, 0xfe, 0x2d, 0x00]),
      'skills/f/SKILL.md/g.md': 'a directory',
    })
    const set = await loadSkills(workspace, ['skills', 'skills/README.md', '../out'])
    expect(names(set)).toEqual(['git', 'web'])
    expect(set.errors.map(({ code, path }) => `${path} ${code}`)).toEqual([
      'skills/a/SKILL.md noFrontmatter',
      'skills/b/SKILL.md missingName',
      'skills/c/SKILL.md missingDescription',
      'skills/d/SKILL.md invalidYaml',
      'skills/e/SKILL.md noFrontmatter',
      'skills/f/SKILL.md unreadable',
      'skills/README.md unreadable',
      '../out unreadable',
    ])
    for (const { message } of set.errors) expect(message).toMatch(/^[A-Z].*\.$/)
  })

  it('warns about a folder with another name, but ignores Unicode normalization', async () => {
    const workspace = memoryWorkspace({ 's/tool/SKILL.md': skill('git'), 's/cafe\u0301/SKILL.md': skill('caf\u00e9') })
    const set = await loadSkills(workspace, ['s'])
    expect(set.warnings).toEqual([{ code: 'badName', path: 's/tool/SKILL.md', message: expect.stringContaining('"tool"') }])
    expect(set.get('cafe\u0301')).toBe(set.get('caf\u00e9'))
  })

  it('rejects a folder whose path contains invisible characters', async () => {
    const set = await loadSkills(memoryWorkspace({ 's/a\nb/SKILL.md': skill('a'), 's/\u202eb/SKILL.md': skill('b') }), ['s'])
    expect(set.skills).toEqual([])
    expect(set.errors.map(({ code }) => code)).toEqual(['unreadable', 'unreadable'])
  })

  it('reports read errors of the workspace', async () => {
    const workspace = memoryWorkspace(files)
    const failing = (error: unknown) =>
      with_(workspace, { read: (path, options) => (path.includes('git') ? Promise.reject(error) : workspace.read(path, options)) })
    for (const error of [new WorkspaceError('outside', 'It leads out.'), new TypeError('broken'), new Error('EACCES\u001b[2J')]) {
      const set = await loadSkills(failing(error), ['skills'])
      expect(names(set)).toEqual(['web'])
      expect(set.errors).toEqual([{ code: 'unreadable', path: 'skills/git/SKILL.md', message: expect.stringMatching(/^[\P{Cc}]+$/u) }])
    }
    const noList = with_(workspace, { list: () => Promise.reject(new WorkspaceError('io', 'No permission.')) })
    expect((await loadSkills(noList, ['skills'])).errors).toMatchObject([{ code: 'unreadable', path: 'skills' }])
  })

  it('reads at most the maximum frontmatter size from a file', async () => {
    const ends: unknown[] = []
    const workspace = memoryWorkspace({
      's/big/SKILL.md': skill('big') + 'x'.repeat(10_000_000),
      's/huge/SKILL.md': `---\n${'#'.repeat(10_000_000)}`,
    })
    const watched = with_(workspace, {
      read: async (path, options) => {
        ends.push(options?.end)
        return workspace.read(path, options)
      },
    })
    const set = await loadSkills(watched, ['s'])
    expect(names(set)).toEqual(['big'])
    expect(set.errors).toMatchObject([{ code: 'noFrontmatter' }])
    expect(ends).toEqual([25_600, 25_600])
  })

  it('measures frontmatter in characters, not bytes', async () => {
    const text = `\ufeff---  \n${skill('a').slice(4, -16)}\n#${'漢'.repeat(8100)}\n---\n`
    expect(names(await loadSkills(memoryWorkspace({ 's/a/SKILL.md': text }), ['s']))).toEqual(['a'])
  })

  it('checks at most 10,000 folders', async () => {
    const workspace = memoryWorkspace()
    let reads = 0
    const crowded = with_(workspace, {
      list: async () =>
        Array.from({ length: 12_000 }, (_, at) => ({ path: `s/${String(at).padStart(5, '0')}`, kind: 'directory' as const })).reverse(),
      read: async (path) => {
        reads += 1
        if (path.endsWith('skill.md')) throw new WorkspaceError('notFound', 'There is none.')
        return path === 's/09999/SKILL.md' || path === 's/10000/SKILL.md'
          ? new TextEncoder().encode(skill(path.slice(2, 7)))
          : workspace.read(path)
      },
    })
    const set = await loadSkills(crowded, ['s'])
    expect(names(set)).toEqual(['09999'])
    expect(reads).toBe(19_999)
    expect(set.errors).toEqual([{ code: 'tooMany', path: 's', message: expect.stringContaining('12000 folders') }])
  })

  it('loads the first maxSkills skills of a directory', async () => {
    const workspace = memoryWorkspace(
      Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`s/k${10 + at}/SKILL.md`, skill(`k${10 + at}`)])),
    )
    const set = await loadSkills(workspace, ['s'], { maxSkills: 20 })
    expect(names(set)).toEqual(Array.from({ length: 20 }, (_, at) => `k${10 + at}`))
    expect(set.errors).toEqual([{ code: 'tooMany', path: 's', message: expect.stringContaining('more than 20 skills') }])
    expect((await loadSkills(workspace, ['s'], { maxSkills: 40 })).errors).toEqual([])
  })

  it('returns a stable order, however slow the files are', async () => {
    const workspace = memoryWorkspace({
      ...files,
      'skills/a/SKILL.md': 'bad',
      'skills/z/SKILL.md': 'bad',
      'skills/Up/SKILL.md': skill('Up'),
    })
    const answers: (() => void)[] = []
    const late = with_(workspace, {
      read: async (path, options) => {
        await new Promise<void>((resolve) => answers.push(resolve))
        return workspace.read(path, options)
      },
    })
    const loading = loadSkills(late, ['skills'])
    let isDone = false
    const done = loading.finally(() => {
      isDone = true
    })
    while (!isDone) {
      answers.pop()?.()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(JSON.stringify(await done)).toBe(JSON.stringify(await loadSkills(workspace, ['skills'])))
  })

  it('yields to other tasks between slow files', async () => {
    const slow = `---\nname: a\ndescription: b\nc: [${','.repeat(4000)}\n---\n`
    const workspace = memoryWorkspace(Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`s/${at}/SKILL.md`, slow])))
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 0)
    expect((await loadSkills(workspace, ['s'])).errors).toHaveLength(12)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })

  it('stops with the reason of its abort signal, at any await', async () => {
    const workspace = memoryWorkspace(files)
    for (let after = 0; after < 4; after += 1) {
      const controller = new AbortController()
      let calls = 0
      const stop = () => {
        if (calls === after) controller.abort(new Error('enough'))
        calls += 1
      }
      // The workspace does not even look at the signal.
      const deaf = with_(workspace, {
        list: async (path) => {
          stop()
          return workspace.list(path)
        },
        read: async (path) => {
          stop()
          return workspace.read(path)
        },
      })
      await expect(loadSkills(deaf, ['skills', 'skills'], { signal: controller.signal })).rejects.toThrow('enough')
    }
    await expect(loadSkills(workspace, ['skills'], { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
    await expect(loadSkills(workspace, [], { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
  })
})

describe('loadSkillDir', () => {
  it('labels skills with the given source', async () => {
    const set = await loadSkillDir(memoryWorkspace(files), 'skills', 'bundled')
    expect(set.skills.map(({ source }) => source)).toEqual(['bundled', 'bundled'])
  })
})

checkedOptions<LoadSkillsOptions>('loadSkills', { maxSkills: 5, signal: new AbortController().signal }, (options) =>
  loadSkills(memoryWorkspace(files), ['skills'], options),
)

describe('loadSkills arguments', () => {
  it.each([
    [undefined, ['skills'], 'workspace'],
    [memoryWorkspace(), 'skills', 'dirs'],
    [memoryWorkspace(), [7], 'dirs[0]'],
  ])('rejects invalid arguments: %j, %j', async (workspace, dirs, name) => {
    await expect(loadSkills(workspace as never, dirs as never)).rejects.toMatchObject({
      code: 'invalidOption',
      message: expect.stringContaining(name),
    })
  })
})
