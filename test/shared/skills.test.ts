import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { loadSkills, memoryWorkspace, parseSkill, readFileTool } from '../../src/tools.ts'

const workspace = memoryWorkspace({
  'shared/git/SKILL.md': '---\nname: git\ndescription: >\n  Commits & branches:\n  use it for versions.\n---\nRun git status first.\n',
  'shared/web/SKILL.md': '---\r\nname: "web"\r\ndescription: Browses.\r\n---\r\nOpen it.\r\n',
  'ours/web/SKILL.md': '\ufeff---\nname: web\ndescription: Browses our pages. 😀\n---\nOpen it.\n',
  'ours/broken/SKILL.md': '---\nname: [\n---\n',
})

describe('skills', () => {
  it('lists skills in the system prompt for read_file', async () => {
    const skills = await loadSkills(workspace, ['shared', 'nowhere', 'ours'])
    const model = scripted([
      { toolCalls: [{ name: 'read_file', arguments: { path: skills.get('git')?.location ?? '' } }] },
      { text: 'It says: git status.' },
    ])
    const agent = new Agent({ model, systemPrompt: 'You are helpful.', skills, tools: [readFileTool({ workspace })] })
    expect(await agent.prompt('Commit this.').text()).toBe('It says: git status.')
    const [first, second] = model.provider.requests
    expect(first?.systemPrompt).toBe(
      [
        'You are helpful.\n\n<available_skills>',
        '  <skill>\n    <name>git</name>\n    <description>Commits &amp; branches: use it for versions.</description>',
        '    <location>shared/git/SKILL.md</location>\n  </skill>',
        '  <skill>\n    <name>web</name>\n    <description>Browses our pages. 😀</description>',
        '    <location>ours/web/SKILL.md</location>\n  </skill>',
        '</available_skills>',
      ].join('\n'),
    )
    expect(JSON.stringify(second?.messages)).toContain('Run git status first.')
    expect(skills.errors.map(({ code, path }) => `${code} ${path}`)).toEqual(['invalidYaml ours/broken/SKILL.md'])
    expect(skills.warnings.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'notPortable ours/web/SKILL.md',
      'shadowed shared/web/SKILL.md',
    ])
  })

  it('parses skills from any source', async () => {
    const parsed = await parseSkill(
      '---\nname: pdf\ndescription: Reads.\nmetadata: {version: 1.0}\nallowed-tools: Bash(pdf *) Read\n---\n\n# PDF\n',
    )
    expect(parsed).toMatchObject({ name: 'pdf', metadata: { version: '1.0' }, allowedTools: ['Bash(pdf *)', 'Read'], body: '# PDF' })
    await expect(parseSkill('# PDF')).rejects.toMatchObject({ name: 'SkillError', code: 'noFrontmatter' })
  })

  it('rejects YAML bombs quickly', async () => {
    const bombs = ['['.repeat(8000), `${'&a [*a, '.repeat(100)}`, '? '.repeat(4000), `[${',a: b'.repeat(1500)}]`]
    for (const bomb of bombs) {
      await expect(parseSkill(`---\nname: a\ndescription: b\nmetadata: ${bomb}\n---\n`)).rejects.toMatchObject({ code: 'invalidYaml' })
    }
  })
})
