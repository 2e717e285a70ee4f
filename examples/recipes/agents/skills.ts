import { Agent } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { loadSkills, memoryWorkspace, readFileTool } from 'phi-core/tools'

const commits = `---
name: commits
description: Writes commit messages. Use it before every commit.
---
Begin with a verb. Say why, not what.
`

export async function skilled(write: (line: string) => void): Promise<void> {
  const workspace = memoryWorkspace({ 'skills/commits/SKILL.md': commits, 'skills/broken/SKILL.md': 'No frontmatter.' })
  const skills = await loadSkills(workspace, ['shared/skills', 'skills']) // The first directory does not exist and is skipped.
  for (const { path, message } of [...skills.errors, ...skills.warnings]) write(`${path}: ${message}`)

  // A scripted model: no request is sent.
  const model = scripted([
    { toolCalls: [{ name: 'read_file', arguments: { path: 'skills/commits/SKILL.md' } }] },
    { text: 'Store sessions so that a crash loses no messages.' },
  ])
  const agent = new Agent({ model, systemPrompt: 'You write code.', skills, tools: [readFileTool({ workspace })] })
  const answer = await agent.prompt('A commit message, please.').text()
  write(model.provider.requests[0]?.systemPrompt ?? '')
  write(answer)
}
