import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { nodeWorkspace } from '../../adapters/node/index.ts'
import { loadSkills, parseSkill } from '../../src/tools.ts'

const folder = fileURLToPath(new URL('../../../shared/conformance/skills', import.meta.url))
const isThere = existsSync(join(folder, 'expected.json'))
if (!isThere) console.warn('SKIPPED: real and odd SKILL.md files, because ../shared/conformance is absent')

interface Case {
  file: string
  expected: {
    error?: string
    name?: string | null
    description?: string | null
    keys?: string[]
    license?: string
    compatibility?: string
    metadata?: object
    'allowed-tools'?: string | string[]
    body_sha?: string
  }
  /** What the standard's own validator says. */
  officialValidator: string[]
}

function cases(): Case[] {
  return JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')).skills
}

/** Descriptions without the quotes that YAML wants: taken as they stand, with a warning, as other loaders take them. */
const lenient = ['/invalid-yaml/SKILL.md', '/colon-unquoted/SKILL.md']

const isBlank = (text: string | null | undefined) => (text ?? '').trim() === ''

describe.skipIf(!isThere)('recorded SKILL.md files', () => {
  it.each(isThere ? cases() : [])('parses or rejects $file', async ({ file, expected, officialValidator }) => {
    const skills = await loadSkills(nodeWorkspace(folder), [dirname(dirname(file))])
    if (lenient.some((end) => file.endsWith(end))) {
      expect(skills.skills.map(({ location }) => location)).toContain(file)
      expect(skills.warnings.map(({ path }) => path)).toContain(file)
      return
    }
    const errors = skills.errors.filter(({ path }) => path === file).map(({ code }) => code)
    const skill = skills.skills.find(({ location }) => location === file)
    const isUsable = expected.error === undefined && !isBlank(expected.name) && !isBlank(expected.description)
    expect(skill !== undefined).toBe(isUsable)
    expect(errors.length).toBe(isUsable ? 0 : 1)
    if (skill === undefined) return
    const { body_sha: _, keys, ...fields } = expected
    expect(Object.keys(skill.frontmatter)).toEqual(keys)
    expect(skill).toMatchObject({ name: expected.name, description: expected.description })
    const { name: _name, description: _description, ...others } = fields
    expect(skill.frontmatter).toMatchObject(others)
    const { body } = await parseSkill(readFileSync(join(folder, file), 'utf8'))
    expect(createHash('sha256').update(body).digest('hex')).toMatch(new RegExp(`^${expected.body_sha}`))
    // Whoever writes a skill that other readers refuse is told.
    const warnings = skills.warnings.filter(({ path }) => path === file)
    expect(warnings.length > 0).toBe(officialValidator.length > 0)
    expect(skills.formatForPrompt()).toContain(`<location>${file}</location>`)
  })
})
