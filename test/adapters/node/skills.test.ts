import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeTools, nodeWorkspace } from '../../../adapters/node/index.ts'
import { loadSkills } from '../../../src/tools.ts'
import { context, textOf } from '../../tools/context.ts'
import { temporaryRoot } from './temporary.ts'

const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\nHow to ${name}.\n`

function folder(path: string, text?: string): string {
  mkdirSync(path, { recursive: true })
  if (text !== undefined) writeFileSync(join(path, 'SKILL.md'), text)
  return path
}

describe('skills in a Node workspace', () => {
  it('returns locations that read_file of nodeTools can read', async () => {
    const { root } = temporaryRoot()
    folder(join(root, '.agent/skills/git'), skill('git'))
    const skills = await loadSkills(nodeWorkspace(root), ['.agent/skills'])
    const tool = nodeTools({ root, bash: false }).find(({ name }) => name === 'read_file')
    const result = await tool?.execute({ path: skills.get('git')?.location ?? '' }, context())
    expect(textOf(result ?? '')).toContain('How to git.')
  })

  it('loads skills through a folder link within the workspace', async () => {
    const { root } = temporaryRoot()
    folder(join(root, 'real/git'), skill('git'))
    folder(join(root, 's'))
    symlinkSync('../real/git', join(root, 's/git'))
    const workspace = nodeWorkspace(root)
    const set = await loadSkills(workspace, ['s'])
    expect(set.skills).toMatchObject([{ name: 'git', location: 's/git/SKILL.md', baseDir: 's/git' }])
    expect([set.errors, set.warnings]).toEqual([[], []])
    const tool = nodeTools({ root, bash: false }).find(({ name }) => name === 'read_file')
    expect(textOf((await tool?.execute({ path: 's/git/SKILL.md' }, context())) ?? '')).toContain('How to git.')
  })

  it('reports a link to a folder outside the workspace without reading it', async () => {
    const { root, outside } = temporaryRoot()
    folder(join(root, 's/git'), skill('git'))
    symlinkSync(folder(join(outside, 'far'), skill('far')), join(root, 's/far'))
    symlinkSync(outside, join(root, 'linked'))
    const set = await loadSkills(nodeWorkspace(root), ['s', 'linked'])
    expect(set.skills.map(({ name }) => name)).toEqual(['git'])
    expect(set.errors).toEqual([
      { code: 'unreadable', path: 's/far/SKILL.md', message: expect.stringContaining('is outside the workspace') },
      { code: 'unreadable', path: 'linked', message: expect.stringContaining('is outside the workspace') },
    ])
    expect(JSON.stringify(set.errors)).not.toContain(outside)
  })

  it('loads skills despite link loops', async () => {
    const { root, outside } = temporaryRoot()
    const skills = folder(join(root, 's'), undefined)
    folder(join(skills, 'git'), skill('git'))
    symlinkSync('.', join(skills, 'loop'))
    symlinkSync('..', join(skills, 'git', 'up'))
    symlinkSync('self', join(skills, 'self'))
    symlinkSync('nowhere', join(skills, 'dangling'))
    writeFileSync(join(outside, 'notes.md'), 'x')
    symlinkSync(join(outside, 'notes.md'), join(skills, 'notes.md'))
    const set = await loadSkills(nodeWorkspace(root), ['s'])
    expect(set.skills.map(({ name }) => name)).toEqual(['git'])
    expect([set.errors, set.warnings]).toEqual([[], []])
  })

  it('rejects a file link out of the workspace and accepts one within', async () => {
    const { root, outside } = temporaryRoot()
    folder(outside, skill('far'))
    folder(join(root, 'elsewhere'), skill('near'))
    symlinkSync(join(outside, 'SKILL.md'), join(folder(join(root, 's/far')), 'SKILL.md'))
    symlinkSync('../../elsewhere/SKILL.md', join(folder(join(root, 's/near')), 'SKILL.md'))
    symlinkSync('SKILL.md', join(folder(join(root, 's/self')), 'SKILL.md'))
    symlinkSync('/dev/zero', join(folder(join(root, 's/zero')), 'SKILL.md'))
    const set = await loadSkills(nodeWorkspace(root), ['s'])
    expect(set.skills.map(({ name }) => name)).toEqual(['near'])
    expect(set.errors.map(({ code, path }) => `${code} ${path}`)).toEqual(
      ['far', 'self', 'zero'].map((name) => `unreadable s/${name}/SKILL.md`),
    )
    expect(JSON.stringify(set.errors)).not.toContain(outside)
  })
})
