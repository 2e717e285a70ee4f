import { agentsFromConfig, parseConfig, trustRequests } from 'phi-core/config'
import { scripted } from 'phi-core/testing'
import { memoryWorkspace } from 'phi-core/tools'

const file = `
[provider]
model = "claude-sonnet-5"
api_key = "\${ANTHROPIC_API_KEY}"

[agent.profile]
temperature = 0.2

[[agent.profile.instances]]
id = "{{reviewer}}"
system_prompt = "file:prompts/reviewer.md"

[[agent.instances]]
name = "reviewer"
agent_profile = "{{agent_profile.reviewer}}"

[tools]
enabled = ["read_file", "search"]
tool_stratgy = "sequential"
`

export async function fromFile(write: (line: string) => void): Promise<void> {
  const { config, warnings } = await parseConfig(file, 'toml')
  for (const { line, message } of warnings) write(`line ${line}: ${message}`)
  write(`trust requests: ${trustRequests(config).length}`)

  const agents = await agentsFromConfig(config, {
    env: { ANTHROPIC_API_KEY: 'a key' },
    workspace: memoryWorkspace({ 'prompts/reviewer.md': 'You review code.', 'a.ts': 'const a = 1' }),
    // A scripted model replaces the one in the file: no request is sent.
    createModel: () =>
      scripted([
        { toolCalls: [{ name: 'read_file', arguments: { path: 'a.ts' } }] },
        { text: 'The file defines one constant. No findings.' },
      ]),
  })
  for (const [name, agent] of agents) {
    write(`${name}: ${JSON.stringify(agent.settings.systemPrompt)}, temperature ${agent.settings.temperature}`)
    write(await agent.prompt('Review a.ts.').text())
  }
}
