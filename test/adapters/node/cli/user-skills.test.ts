import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment, piped } from './command.ts'
import { messagesText, modelServer, playing } from './model-server.ts'

const skill = '---\nname: commits\ndescription: How commits are named here.\n---\nBegin with a verb.\n'

/** A home with a skill, and a model that makes these calls, one after another. */
async function home(...calls: [name: string, args: Record<string, unknown>][]) {
  const { env: server, asked } = await playing(...calls)
  const env = environment(server)
  const phiHome = env.PHI_HOME ?? ''
  const place = join(phiHome, 'skills', 'commits')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'SKILL.md'), skill)
  return { env, phiHome, place, asked }
}

const args = ['--model', 'openai/test', '--no-sandbox', '-p', 'go']

describe('user skills', () => {
  it('lists user skills in the system prompt of every project', async () => {
    const { env, asked } = await home(['read_file', { path: '~phi/skills/commits/SKILL.md' }], ['list_files', { path: '~phi/skills' }])
    const { code, stderr } = await piped(args, { env })
    expect(code, stderr).toBe(0)
    const first = asked[0]
    expect(first && messagesText(first)).toMatch(/How commits are named here.*~phi\/skills\/commits\/SKILL\.md/)
    expect(JSON.stringify(asked[1]?.messages.at(-1))).toContain('Begin with a verb.')
    expect(JSON.stringify(asked[2]?.messages.at(-1))).toContain('SKILL.md')
  })

  it('loads from the settings directory or PHI_HOME', async () => {
    const { env: server, asked } = await modelServer(() => ({ text: ['ok'] }))
    const { PHI_HOME: _other, ...env } = environment(server)
    const HOME = directory()
    const place = join(HOME, '.config', 'phi', 'skills', 'commits')
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'SKILL.md'), skill)
    const { code, stderr } = await piped(args, { env: { ...env, HOME } })
    expect(code, stderr).toBe(0)
    expect(asked[0] && messagesText(asked[0])).toContain('~/.config/phi/skills/commits/SKILL.md')
  })

  it('rejects writes to skill files', async () => {
    const paths = ['~phi/skills/commits/SKILL.md', '~phi/skills/../skills/commits/SKILL.md', '~phi/skills/../../x']
    const { env, phiHome, place, asked } = await home(
      ...paths.map((path): [string, Record<string, unknown>] => ['write_file', { path, content: 'planted' }]),
    )
    await piped(args, { env })
    expect(asked).toHaveLength(paths.length + 1)
    expect(readFileSync(join(place, 'SKILL.md'), 'utf8')).toBe(skill)
    expect(existsSync(join(phiHome, 'x'))).toBe(false)
  })

  it('rejects reads outside the skill folder', async () => {
    const { env, phiHome, asked } = await home(['read_file', { path: '~phi/skills/../../trusted.json' }])
    writeFileSync(join(phiHome, 'trusted.json'), '{"secret":1}')
    await piped(args, { env })
    expect(JSON.stringify(asked[1]?.messages.at(-1))).not.toContain('secret')
  })

  it('disables skills with a warning if tools could change them', async () => {
    const { env, phiHome, asked } = await home(['list_files', { path: '.' }])
    const { stderr } = await piped(args, { env, cwd: phiHome })
    expect(stderr).toContain('are ignored here')
    expect(asked[0] && messagesText(asked[0])).not.toContain('How commits are named here')
  })
})
