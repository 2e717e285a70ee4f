import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeTools, nodeWorkspace } from '../../../adapters/node/index.ts'
import { loadSkills } from '../../../src/skills/index.ts'
import { context, textOf } from '../../tools/context.ts'
import { temporaryRoot } from './temporary.ts'

const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\nHow to ${name}.\n`

function folder(path: string, text?: string): string {
  mkdirSync(path, { recursive: true })
  if (text !== undefined) writeFileSync(join(path, 'SKILL.md'), text)
  return path
}

describe('skills on disk', () => {
  it('are read, and their locations are what read_file of nodeTools reads', async () => {
    const { root } = temporaryRoot()
    folder(join(root, '.agent/skills/git'), skill('git'))
    const skills = await loadSkills(nodeWorkspace(root), ['.agent/skills'])
    const tool = nodeTools({ root, bash: false }).find(({ name }) => name === 'read_file')
    const result = await tool?.execute({ path: skills.get('git')?.location ?? '' }, context())
    expect(textOf(result ?? '')).toContain('How to git.')
  })

  it('come to an end in loops of links, which are not followed', async () => {
    const { root, outside } = temporaryRoot()
    const skills = folder(join(root, 's'), undefined)
    folder(join(skills, 'git'), skill('git'))
    symlinkSync('.', join(skills, 'loop'))
    symlinkSync('..', join(skills, 'git', 'up'))
    symlinkSync('self', join(skills, 'self'))
    symlinkSync(folder(join(outside, 'far'), skill('far')), join(skills, 'far'))
    const set = await loadSkills(nodeWorkspace(root), ['s'])
    expect(set.skills.map(({ name }) => name)).toEqual(['git'])
    expect([set.errors, set.warnings]).toEqual([[], []])
  })

  it('are refused where the file is a link out of the workspace, and taken where it leads inside', async () => {
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
