import { describe, expect, it } from 'vitest'
import { agentsFromConfig, parseConfigAuto } from '../../src/config.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { memoryWorkspace } from '../../src/tools.ts'

const toml = `
default_workspace = "project"
[provider]
model = "m"
api_key = "\${KEY}"
[agent.profile]
system_prompt = "file:prompt.md"
skills = ["bees"]
[[agent.instances]]
name = "reader"
[tools]
enabled = ["file_read"]
[session]
scope = "persistent"
[skills]
paths = ["skills"]
`

const yaml = `
default_workspace: project
provider: {model: m, api_key: "\${KEY}"}
agent:
  profile: {system_prompt: "file:prompt.md", skills: [bees]}
  instances: [{name: reader}]
tools: {enabled: [file_read]}
session: {scope: persistent}
skills: {paths: [skills]}
`

describe('an agent from a configuration file', () => {
  for (const [format, text] of Object.entries({ toml, yaml })) {
    it(`loads prompt, skills and files of ${format} from the host's workspace`, async () => {
      const { config, warnings, format: found } = await parseConfigAuto(text)
      expect([warnings, found]).toEqual([[], format])
      const script = [{ toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] }, { text: 'Bees.' }]
      const sessions = memorySessionStore()
      const agents = await agentsFromConfig(config, {
        env: { KEY: 'k' },
        sessions,
        workspace: memoryWorkspace({
          'project/prompt.md': 'Read.',
          'project/a.txt': 'about bees',
          'project/skills/bees/SKILL.md': '---\nname: bees\ndescription: All about bees.\n---\n',
        }),
        createModel: ({ api_key }) => (api_key === 'k' ? scripted(script) : undefined),
      })
      const agent = agents.get('reader')
      const result = await agent?.prompt('What is in a.txt?').result
      expect(result).toMatchObject({ status: 'completed', text: 'Bees.' })
      expect(JSON.stringify(result?.messages)).toContain('about bees')
      expect(agent?.settings.systemPrompt).toBe('Read.')
      expect(agent?.settings.skills?.skills.map(({ location }) => location)).toEqual(['skills/bees/SKILL.md'])
      expect((await sessions.list()).sessions).toHaveLength(1)
    })
  }

  it("sends the environment's key through the host's fetch", async () => {
    const { config } = await parseConfigAuto(
      '{"provider":{"model":"m","api":"openai","api_key":"${KEY}"},"execution":{"retry":{"max_retries":0}}}',
    )
    const asked: [string, string | null][] = []
    const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
      asked.push([String(input), new Headers(init?.headers).get('authorization')])
      return new Response('{"error":{"message":"no"}}', { status: 400 })
    }
    const [agent] = (await agentsFromConfig(config, { env: { KEY: 'the-key' }, fetch })).values()
    expect((await agent?.prompt('hi').result)?.status).toBe('error')
    expect(asked).toEqual([['https://api.openai.com/v1/chat/completions', 'Bearer the-key']])
  })
})
