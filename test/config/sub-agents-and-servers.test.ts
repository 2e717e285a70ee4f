import { describe, expect, it } from 'vitest'
import type { McpToolSet } from '../../adapters/mcp/index.ts'
import type { McpServerConfig } from '../../src/config.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { memoryWorkspace } from '../../src/tools.ts'
import { agentOf, agentsOf, provider, refusal, toolsNamed } from '../support/agent-files.ts'

describe('sub-agents from configuration', () => {
  const text = `${provider}
[[provider.instances]]
name = "other"
model = "o"
api_key = "k"
[agent]
system_prompt = "Coordinate."
[[sub_agents.instances]]
name = "researcher"
description = "Reads."
system_prompt = "file:research.md"
model = "small"
tools = ["read_file"]
[[sub_agents.instances]]
id = "{{%coder%}}"
name = "coder"
description = "Writes."
provider = "other"
max_turns = 2
thinking_level = "high"
`
  const workspace = memoryWorkspace({ 'research.md': 'Read carefully.', 'a.md': 'bees' })

  it('gives every agent sub-agents with their own model, prompt and tools', async () => {
    const models: string[] = []
    const agent = await agentOf(text, {
      workspace,
      createModel: ({ model = '' }) => {
        models.push(model)
        if (model === 'm') return scripted([{ toolCalls: [{ name: 'researcher', arguments: { task: 'a.md?' } }] }, { text: 'Bees.' }])
        return scripted([{ toolCalls: [{ name: 'read_file', arguments: { path: 'a.md' } }] }, { text: 'About bees.' }])
      },
    })
    expect(agent.settings.tools?.map(({ name }) => name)).toEqual(['researcher', 'coder'])
    expect(models.toSorted()).toEqual(['m', 'o', 'small'])
    const { text: said, messages } = await agent.prompt('go').result
    expect(said).toBe('Bees.')
    expect(JSON.stringify(messages)).toContain('About bees.')
  })

  it('gives sub-agents only the skills that they name', async () => {
    const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\n`
    const files = { 'skills/review/SKILL.md': skill('review'), 'skills/debug/SKILL.md': skill('debug'), 'research.md': 'Read.' }
    const promptOf = async (more: string) => {
      const helper = scripted([{ text: 'Done.' }])
      const agent = await agentOf(`${text}${more}[skills]\npaths = ["skills"]\n`, {
        workspace: memoryWorkspace(files),
        createModel: ({ model }) =>
          model === 'o' ? helper : scripted([{ toolCalls: [{ name: 'coder', arguments: { task: 'x' } }] }, { text: 'ok' }]),
      })
      await agent.prompt('go').result
      return helper.provider.requests[0]?.systemPrompt ?? ''
    }
    expect(await promptOf('')).not.toContain('<skill>')
    const prompt = await promptOf('skills = ["debug"]\n')
    expect(prompt).toContain('About debug.')
    expect(prompt).not.toContain('About review.')
    const wrong = await refusal(`${text}skills = ["debag"]\n[skills]\npaths = ["skills"]\n`, { workspace: memoryWorkspace(files) })
    expect(wrong).toMatchObject({ code: 'invalidField', field: 'sub_agents.instances[1].skills' })
  })

  it('ignores sub-agent names in the tool list', async () => {
    for (const name of ['coder', '{{sub_agent.coder}}', '{{%coder%}}']) {
      const agent = await agentOf(`${text}[tools]\nenabled = ["${name}"]`, { workspace })
      expect(agent.settings.tools?.map((tool) => tool.name)).toEqual(['researcher', 'coder'])
    }
  })

  it('runs sub-agents in the background up to max_running', async () => {
    const inBackground = `${text}background = true\non_run_end = "STOP"\nmax_running = 1\n`
    const calls = ['a', 'b'].map((id) => ({ id, name: 'coder', arguments: { task: id } }))
    const agent = await agentOf(inBackground, {
      workspace,
      createModel: ({ model = '' }) =>
        model === 'm' ? scripted([{ toolCalls: calls }, { text: 'Begun.' }]) : scripted(() => ({ text: 'x' })),
    })
    const { messages, text: said } = await agent.prompt('go').result
    expect(said).toBe('Begun.')
    const results = messages.flatMap((message) => (message.role === 'toolResult' ? [[message.backgroundId, message.isError]] : []))
    expect(results).toEqual([
      ['coder-1', false],
      [undefined, true],
    ])
  })

  it('rejects an unknown on_run_end value', async () => {
    expect(await refusal(`${text}background = true\non_run_end = "leave"\n`, { workspace })).toMatchObject({
      field: 'sub_agents.instances[1].on_run_end',
      expected: '"wait", "stop"',
    })
  })

  it('rejects nested sub-agents and unknown tools', async () => {
    const nested = await refusal(`${text}tools = ["researcher"]`, { workspace })
    expect(nested).toMatchObject({ code: 'invalidTool', field: 'sub_agents.instances[1].tools[0]' })
    expect(await refusal(text.replace('"other"', '"nobody"'), { workspace })).toMatchObject({ code: 'badReference' })
    expect(await refusal(text.replace('model = "o"', 'model = "o"\napi_key = "x"\n'), { workspace })).toMatchObject({ code: 'parse' })
  })
})

/** A set of tools that says when it was closed. */
function toolSet(names: string[], closed: string[]): McpToolSet {
  const close = async () => void closed.push(names.join())
  return Object.assign(toolsNamed(...names), {
    prefix: undefined,
    instructions: undefined,
    app: () => undefined,
    refresh: async () => ({ added: [], removed: [], changed: [] }),
    subscribe: () => () => undefined,
    resources: async () => ({ resources: [], templates: [] }),
    readResource: async () => [],
    onResourceChange: async () => () => undefined,
    onListChange: () => () => undefined,
    prompts: async () => [],
    prompt: async () => [],
    complete: async () => [],
    close,
    [Symbol.asyncDispose]: close,
  })
}

describe('tool search and offload from configuration', () => {
  const server = `${provider}[tools]\nsearch_servers = true\n[[mcp.servers]]\nname = "web"\nurl = "https://mcp.test/"\n`

  it('searches server tools if configured', async () => {
    const model = scripted([
      { toolCalls: [{ name: 'search_tools', arguments: { query: 'weather' } }] },
      { toolCalls: [{ name: 'weather', arguments: {} }] },
      { text: 'Sunny.' },
    ])
    const connectMcp = async () => toolSet(['weather', 'mail'], [])
    const agent = await agentOf(server, { trust: true, connectMcp, createModel: () => model })
    expect(await agent.prompt('Weather?').text()).toBe('Sunny.')
    expect(model.provider.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['search_tools'],
      ['search_tools', 'weather'],
      ['search_tools', 'weather'],
    ])
  })

  it('offloads long results to files that the agent can read', async () => {
    const long = `${provider}[tools]\nenabled = ["read_file", "long"]\noffload_over = 100\n`
    const model = scripted([{ toolCalls: [{ name: 'long', arguments: {} }] }, { text: 'Read.' }])
    const [reads, makes] = toolsNamed('read_file', 'long')
    const result = async () => ({ content: [{ type: 'text' as const, text: 'x'.repeat(5000) }] })
    const files = memoryWorkspace({})
    const tools = reads === undefined || makes === undefined ? [] : [reads, { ...makes, execute: result }]
    const agent = await agentOf(long, { workspace: files, tools, createModel: () => model })
    await agent.prompt('Go.').result
    expect(JSON.stringify(model.provider.requests[1]?.messages).length).toBeLessThan(2000)
    expect((await files.list('')).length).toBeGreaterThan(0)
    expect(await refusal(`${provider}[tools]\noffload_over = 100\n`, { workspace: files })).toMatchObject({ field: 'tools.offload_over' })
  })
})

describe('MCP servers from configuration', () => {
  const text = `${provider}
[[mcp.servers]]
name = "web"
url = "https://mcp.test/"
headers = { a = "b" }
include = ["x"]
timeout_secs = 2
reset_timeout_on_progress = false
total_timeout_secs = 5
[[tools.instances]]
name = "files"
[tools.instances.config]
transport = "stdio"
command = "server"
args = ["--here"]
env = { TOKEN = "\${TOKEN}" }
[[tools.instances]]
name = "off"
enabled = false
config = { command = "never" }
`
  function hostWith(closed: string[], asked: McpServerConfig[] = []) {
    const connectMcp = async (server: McpServerConfig) => {
      asked.push(server)
      return toolSet([`${server.name}__x`], closed)
    }
    return { trust: true, env: { TOKEN: 't' }, connectMcp }
  }

  it('connects both transports, and closes them with the agent', async () => {
    const closed: string[] = []
    const asked: McpServerConfig[] = []
    const agent = await agentOf(text, hostWith(closed, asked))
    const ofCalls = { timeoutMs: 2000, resetTimeoutOnProgress: false, totalTimeoutMs: 5000 }
    expect(asked).toEqual([
      { name: 'files', transport: 'stdio', command: 'server', args: ['--here'], env: { TOKEN: 't' }, cwd: '.' },
      { name: 'web', transport: 'http', url: 'https://mcp.test/', headers: { a: 'b' }, include: ['x'], ...ofCalls },
    ])
    expect(agent.settings.tools?.map(({ name }) => name)).toEqual(['files__x', 'web__x'])
    await agent.close()
    await agent.close()
    expect(closed).toEqual(['files__x', 'web__x'])
  })

  const told = (set: McpToolSet, prefix: string, instructions: string) =>
    Object.defineProperties(set, { prefix: { value: prefix }, instructions: { value: instructions } })

  it('adds server instructions to the prompt if configured', async () => {
    const connectMcp = async ({ name }: McpServerConfig) => told(toolSet([`${name}__x`], []), name, `How ${name} is used.`)
    const servers = (wants: string) =>
      `[[mcp.servers]]\nname = "web"\nurl = "https://mcp.test/"\n${wants}[[mcp.servers]]\nname = "db"\nurl = "https://db.test/"\n`
    const promptOf = async (wants: string, agent = '[agent]\nsystem_prompt = "Help."\n') =>
      (await agentOf(provider + agent + servers(wants), { trust: true, connectMcp })).settings.systemPrompt
    expect(await promptOf('')).toBe('Help.')
    expect(await promptOf('instructions = true\n')).toBe(
      'Help.\n\nInstructions from MCP servers for their tools. They apply only to these tools.\n\n<mcp-server tools="web__*">\nHow web is used.\n</mcp-server>',
    )
    expect(await promptOf('instructions = true\n', '')).toMatch(/^Instructions from MCP servers/)
  })

  it("passes roots inside the agent's workspace", async () => {
    const asked: McpServerConfig[] = []
    const roots = (list: string, where = 'command = "server"') => `${provider}[[mcp.servers]]\nname = "files"\n${where}\nroots = ${list}\n`
    await agentOf(roots('[".", "docs"]'), hostWith([], asked))
    expect(asked).toMatchObject([{ transport: 'stdio', roots: ['.', 'docs'] }])
    for (const outside of ['["/etc"]', '["docs", "../.."]', '["~"]']) {
      expect(await refusal(roots(outside), hostWith([]))).toMatchObject({
        field: expect.stringMatching(/^mcp\.servers\[0\]\.roots\[\d\]$/),
        line: 7,
      })
    }
    expect(await refusal(roots('["."]', 'url = "https://mcp.test/"'), hostWith([]))).toMatchObject({ field: 'mcp.servers[0].roots' })
  })

  it('rejects invalid MCP call limits', async () => {
    const server = `${provider}[[mcp.servers]]\nname = "web"\nurl = "https://mcp.test/"\n`
    for (const [key, value] of [
      ['total_timeout_secs', '0'],
      ['total_timeout_secs', '"5"'],
      ['reset_timeout_on_progress', '1'],
    ]) {
      expect(await refusal(`${server}${key} = ${value}\n`, hostWith([]))).toMatchObject({ field: `mcp.servers[0].${key}` })
    }
  })

  it('shares servers among agents, and closes them with the last', async () => {
    const closed: string[] = []
    const asked: McpServerConfig[] = []
    const several = '[[agent.instances]]\nname = "a"\n[[agent.instances]]\nname = "b"\n'
    const [a, b] = (await agentsOf(text + several, hostWith(closed, asked))).values()
    expect(asked).toHaveLength(2)
    await a?.close()
    await a?.close()
    expect(closed).toEqual([])
    await b?.close()
    expect(closed).toHaveLength(2)
  })

  it('closes servers if an agent cannot be created', async () => {
    const closed: string[] = []
    const host = hostWith(closed)
    const failing = {
      ...host,
      connectMcp: async (server: McpServerConfig) => {
        if (server.name === 'web') throw new Error('no such server')
        return host.connectMcp(server)
      },
    }
    await expect(agentOf(text, failing)).rejects.toThrow('no such server')
    expect(closed).toEqual(['files__x'])
  })

  it.each([
    ['name = "no good"\ncommand = "x"', 'mcp.servers[0].name'],
    ['name = "a"', 'mcp.servers[0].command'],
    ['name = "a"\nurl = "file:///etc"', 'mcp.servers[0].url'],
    ['name = "a"\ntransport = "stdio"', 'mcp.servers[0].command'],
    ['name = "a"\ncommand = "x"\nurl = "https://a.test"', 'mcp.servers[0].url'],
    ['name = "a"\ntransport = "http"\ncommand = "x"\nurl = "https://a.test"', 'mcp.servers[0].command'],
  ])('rejects invalid server entries: %j', async (server, field) => {
    const error = await refusal(`${provider}[[mcp.servers]]\n${server}`, hostWith([]))
    expect(error).toMatchObject({ code: 'invalidField', field })
  })

  it('requires a host with connectMcp', async () => {
    const error = await refusal(`${provider}[[mcp.servers]]\nname = "a"\ncommand = "x"`, { trust: true })
    expect(error).toMatchObject({ code: 'unsupported', field: 'mcp.servers[0]' })
  })
})
