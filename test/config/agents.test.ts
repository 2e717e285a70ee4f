import { describe, expect, it } from 'vitest'
import { agentFromConfig } from '../../src/config.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { memoryWorkspace } from '../../src/tools.ts'
import { agentOf, agentsOf, provider, refusal, refusalOf, toolsNamed } from '../support/agent-files.ts'

const profiles = `${provider}
[agent.profile]
system_prompt = "base"
thinking_level = "HIGH"
temperature = 0.2
max_tokens = 100
config_id = "base"
[[agent.profile.instances]]
id = "{{%reviewer%}}"
system_prompt = "reviewer"
thinking_level = "low"
temperature = 0
config_id = "rev"
`

describe('agents from configuration', () => {
  it('names a single agent "default"', async () => {
    expect([...(await agentsOf(provider)).keys()]).toEqual(['default'])
  })

  it('requires a model', async () => {
    expect(await refusal('[agent]\nsystem_prompt = "x"')).toMatchObject({ code: 'invalidField', field: 'provider.model' })
    const message =
      'provider.model is missing (expected the id of a model, such as "claude-sonnet-5"). The key is model in the section provider.'
    expect(await refusal('model = "claude-sonnet-5"')).toMatchObject({ message: `${message} (line 1, column 1)` })
    expect(await refusalOf({})).toMatchObject({ code: 'invalidField', field: 'provider.model' })
  })

  it('accepts an object, validated like a file', async () => {
    const config = { provider: { model: 'm', api_key: 'k' }, agent: { system_prompt: 'hi', profile: { thinking_level: 'high' } } }
    const agent = await agentFromConfig(config)
    expect([agent.settings.systemPrompt, agent.settings.thinking, agent.settings.model.config.id]).toEqual(['hi', 'high', 'm'])
    expect(await refusalOf({ provider: { model: 5 as never } })).toMatchObject({ code: 'invalidField', field: 'provider.model' })
  })

  it('applies the settings of the profile, in any letter case', async () => {
    const agent = await agentOf(profiles)
    expect([agent.settings.systemPrompt, agent.settings.thinking, agent.settings.temperature, agent.settings.maxTokens]).toEqual([
      'base',
      'high',
      0.2,
      100,
    ])
  })

  it('prefers settings of the instance over its profile', async () => {
    const agents = await agentsOf(`${profiles}
[[agent.instances]]
name = "a"
agent_profile = "{{agent_profile.reviewer}}"
[[agent.instances]]
name = "b"
agent_profile = "reviewer"
system_prompt = "own"
profile = { temperature = 1 }
[[agent.instances]]
name = "c"`)
    const shown = [...agents].map(([name, agent]) => [
      name,
      agent.settings.systemPrompt,
      agent.settings.thinking,
      agent.settings.temperature,
      agent.settings.maxTokens,
    ])
    expect(shown).toEqual([
      ['a', 'reviewer', 'low', 0, 100],
      ['b', 'own', 'low', 1, 100],
      ['c', 'base', 'high', 0.2, 100],
    ])
  })

  it('prefers the [agent] prompt over profiles, and ignores an empty one', async () => {
    const several = '[[agent.instances]]\nname = "a"\nagent_profile = "reviewer"\n[[agent.instances]]\nname = "b"\nsystem_prompt = "mine"'
    const agents = await agentsOf(`agent.system_prompt = "all"\n${profiles}${several}`)
    expect([...agents.values()].map(({ settings }) => settings.systemPrompt)).toEqual(['all', 'mine'])
    expect((await agentOf(`agent.system_prompt = ""\n${profiles}`)).settings.systemPrompt).toBe('base')
  })

  it('prefers [session] settings over profiles', async () => {
    const agent = await agentOf(`${profiles}[session]\nthinking_level = "off"\ntemperature = 1`)
    expect([agent.settings.thinking, agent.settings.temperature]).toEqual(['off', 1])
  })

  it('rejects a duplicate agent name', async () => {
    const text = `${provider}[[agent.instances]]\n[[agent.instances]]\n`
    expect(await refusal(text)).toMatchObject({ code: 'invalidField', field: 'agent.instances[1].name', value: '"unnamed"' })
  })

  it('stores conversations only if the host passes a store', async () => {
    const text = `${provider}[session]\nscope = "Persistent"`
    expect(await refusal(text)).toMatchObject({ code: 'unsupported', field: 'session.scope' })
    const sessions = memorySessionStore()
    const agent = await agentOf(text, { sessions, createModel: () => scripted([{ text: 'ok' }]) })
    await agent.prompt('hi').result
    expect((await sessions.tail(agent.sessionId)).records.length).toBeGreaterThan(0)
  })

  it('applies limits, retries and caching of [execution]', async () => {
    const { settings } = await agentOf(`${provider}
[tools]
tool_strategy = "batched"
[execution]
max_turns = 3
max_total_tokens = 4
max_duration_secs = 1.5
max_cost = 0.5
[execution.retry]
max_retries = 0
[execution.cache]
enabled = false
[provider.cost]
input_per_million = 3.0`)
    expect(settings).toMatchObject({
      toolExecution: { type: 'batched', size: 3 },
      limits: { maxTurns: 3, maxTotalTokens: 4, maxDurationMs: 1500, maxCost: 0.5 },
      retry: { maxRetries: 0 },
      cache: { type: 'disabled' },
    })
    const model = scripted([{ toolCalls: [{ name: 'x', arguments: {} }] }, { toolCalls: [{ name: 'x', arguments: {} }] }])
    const limited = await agentOf(`${provider}[execution]\nmax_turns = 1`, { createModel: () => model })
    expect(await limited.prompt('go').result).toMatchObject({ status: 'limit' })
    expect(model.provider.requests).toHaveLength(1)
  })
})

describe('system prompts from configuration', () => {
  const files = {
    'prompt.md': 'from the root',
    'a/prompt.md': 'from a',
    'b/prompt.md': 'from b',
    'a/long.md': 'x'.repeat(300_000),
    'a/trick.md': 'file:/etc/passwd ${KEY} {{system_prompt.p}}',
  }
  const host = { workspace: memoryWorkspace(files) }

  it("reads files relative to the agent's workspace", async () => {
    const agents = await agentsOf(
      `default_workspace = "a"\n${provider}
[agent.profile]
system_prompt = "file:prompt.md"
[[agent.instances]]
name = "one"
[[agent.instances]]
name = "two"
workspace = "b"
[[agent.instances]]
name = "three"
workspace = "."`,
      host,
    )
    expect([...agents.values()].map(({ settings }) => settings.systemPrompt)).toEqual(['from a', 'from b', 'from the root'])
  })

  it('treats the content of a prompt file as plain text', async () => {
    const agent = await agentOf(`${provider}[agent]\nworkspace = "a"\nsystem_prompt = "file:trick.md"`, { ...host, env: { KEY: 'k' } })
    expect(agent.settings.systemPrompt).toBe(files['a/trick.md'])
  })

  it('requires a workspace, an existing file and a bounded length', async () => {
    const text = (path: string) => `${provider}[agent]\nworkspace = "a"\nsystem_prompt = "file:${path}"`
    expect(await refusal(text('prompt.md'))).toMatchObject({ code: 'unsupported', field: 'agent.system_prompt' })
    expect(await refusal(text('none.md'), host)).toMatchObject({ code: 'io', field: 'agent.system_prompt' })
    expect(await refusal(text('long.md'), host)).toMatchObject({ code: 'invalidField', message: expect.stringContaining('longer than') })
  })

  const blocks = `${provider}
[[system_prompt_strategy.instances]]
id = "{{s}}"
[[system_prompt_strategy.instances.blocks]]
name = "second"
order = 2
max_length = 4
[[system_prompt_strategy.instances.blocks]]
name = "first"
order = 1
[[system_prompt.instances]]
id = "{{p}}"
type = "{{system_prompt_strategy.s}}"
second = "123456"
first = "file:prompt.md"
`

  it('composes blocks in the order of their strategy, truncated to length', async () => {
    expect((await agentOf(`${blocks}[agent]\nsystem_prompt = "{{system_prompt.p}}"`, host)).settings.systemPrompt).toBe(
      'from the root\n\n1234',
    )
    expect((await agentOf(`${blocks}[agent]\nsystem_prompt = "{{%p%}}"`, host)).settings.systemPrompt).toBe('from the root\n\n1234')
  })

  it('uses file order without a strategy, and defines two built-in strategies', async () => {
    const own = (type: string) => `${provider}[agent]\nsystem_prompt = "{{p}}"\n[[system_prompt.instances]]\nid = "p"\n${type}`
    expect((await agentOf(own('b = "2"\na = "1"'))).settings.systemPrompt).toBe('2\n\n1')
    expect((await agentOf(own('type = "{{system_prompt_strategy.agent}}"\ntools = "t"\nidentity = "i"'))).settings.systemPrompt).toBe(
      'i\n\nt',
    )
    const error = await refusal(own('type = "agent"\nidentityy = "i"'))
    expect(error).toMatchObject({
      code: 'invalidField',
      field: 'system_prompt.instances[0]',
      message: expect.stringContaining('"identity"'),
    })
  })

  it('treats text that resembles references as plain text', async () => {
    for (const text of ['{{}}', 'Dear {{name}}', '{{#if a}}x{{/if}}', '{{ a }} {{ b }}']) {
      expect((await agentOf(`${provider}[agent]\nsystem_prompt = '${text}'`)).settings.systemPrompt).toBe(text)
    }
  })
})

describe('tools from configuration', () => {
  const tools = toolsNamed('bash', 'read_file', 'write_file', 'web_search')
  const named = async (enabled: string, more = '') =>
    (await agentOf(`${provider}[tools]\nenabled = [${enabled}]\n${more}`, { tools })).settings.tools?.map(({ name }) => name)

  it('selects the named tools, including aliases, each once', async () => {
    expect(await named('"bash", "file_read", "read_file", "shell"')).toEqual(['bash', 'read_file'])
    expect(await named('"prun", "revert"')).toEqual(['prun', 'prun_with_memo', 'revert_to_state'])
    expect((await agentOf(provider, { tools })).settings.tools).toEqual([])
  })

  it('rejects unknown tools and lists the known ones', async () => {
    const error = await refusal(`${provider}[tools]\nenabled = ["read_file", "web_serch"]`, { tools })
    expect(error).toMatchObject({ code: 'invalidTool', field: 'tools.enabled[1]', line: 5 })
    expect(error.message).toContain('Did you mean web_search?')
    expect(error.message).toContain('bash, read_file, write_file, web_search, prun, revert')
  })

  it('provides file tools if the host passes only a workspace', async () => {
    const agent = await agentOf(`${provider}[agent]\nworkspace = "a"\n[tools]\nenabled = ["file_read", "search"]`, {
      workspace: memoryWorkspace({ 'a/x.txt': 'hello', 'secret.txt': 'no' }),
      createModel: () =>
        scripted([
          {
            toolCalls: [
              { name: 'read_file', arguments: { path: 'x.txt' } },
              { name: 'read_file', arguments: { path: '../secret.txt' } },
            ],
          },
          { text: 'ok' },
        ]),
    })
    const { messages } = await agent.prompt('go').result
    const results = messages.flatMap((message) =>
      message.role === 'toolResult' ? [[message.isError, JSON.stringify(message.content)]] : [],
    )
    expect(results).toMatchObject([
      [false, expect.stringContaining('hello')],
      [true, expect.stringContaining('leaves the workspace')],
    ])
  })
})

describe('compaction from configuration', () => {
  const contextOf = async (text: string) => (await agentOf(`${provider}${text}`)).settings.contextConfig

  it('compacts only if max_context_tokens is set', async () => {
    expect(await contextOf('')).toBe(false)
    expect(await contextOf('[compaction]\nmax_context_tokens = 1000')).toMatchObject({ maxContextTokens: 1000 })
  })

  it('merges both sections and their old names', async () => {
    const all = await contextOf(`[compaction]
max_context_tokens = 20000
keep_first = 1
compaction_scope = "token_budget"
[context]
system_prompt_tokens = 7
keep_recent = 3
[context.compaction]
compact_at_pct = 0.8
compact_budget_threshold_pct = 0.1
max_summary_tokens = 9
tool_output_max_lines = 5`)
    expect(all).toEqual({
      maxContextTokens: 20_000,
      systemPromptTokens: 7,
      compaction: {
        compactAtPct: 0.8,
        compactBudgetThresholdPct: 0.1,
        scope: { type: 'tokenBudget' },
        keepFirstTurns: 1,
        keepRecentTurns: 3,
        maxSummaryTokens: 9,
        toolOutputMaxLines: 5,
      },
    })
    expect(await refusal(`${provider}[compaction]\nkeep_first = 1\n[context]\nkeep_first_turns = 2`)).toMatchObject({
      code: 'invalidField',
      field: 'context.keep_first_turns',
    })
  })

  it("applies the profile's variation, with a summary model if focused", async () => {
    const text = `[compaction]
max_context_tokens = 20000
keep_first_turns = 1
keep_recent_turns = 2
[[compaction.instances]]
id = "{{%coding%}}"
keep_recent_turns = 6
focus_message = "Paths."
[agent.profile]
compaction = "{{compaction.coding}}"`
    expect(await contextOf(text)).toMatchObject({
      compaction: { keepFirstTurns: 1, keepRecentTurns: 6, focusMessage: 'Paths.', strategy: expect.anything() },
    })
  })
})

describe('skills from configuration', () => {
  const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\n`
  const workspace = memoryWorkspace({ 'skills/review/SKILL.md': skill('review'), 'skills/debug/SKILL.md': skill('debug') })
  const text = (names: string) => `${provider}[agent.profile]\nskills = [${names}]\n[skills]\npaths = ["skills"]`

  it('loads skills from the workspace and selects them by profile', async () => {
    expect((await agentOf(text('"review"'), { workspace })).settings.skills?.skills.map(({ name }) => name)).toEqual(['review'])
    const all = await agentOf(`${provider}[skills]\npaths = ["skills"]`, { workspace })
    expect(all.settings.skills?.skills.map(({ name }) => name)).toEqual(['debug', 'review'])
  })

  it('rejects missing skills and paths outside the workspace', async () => {
    expect(await refusal(text('"revue"'), { workspace })).toMatchObject({ code: 'invalidField', field: 'agent.profile.skills' })
    expect(await refusal(`${provider}[agent.profile]\nskills = ["a"]`)).toMatchObject({ code: 'unsupported' })
    expect(await refusal(`${provider}[skills]\npaths = ["../a"]`, { workspace })).toMatchObject({ field: 'skills.paths[0]' })
  })
})

describe('callbacks from configuration', () => {
  it('passes scripts to the host, which creates hooks from them', async () => {
    const asked: unknown[] = []
    const text = `${provider}[callbacks]\nbefore_turn = "hooks/a.sh"\non_error = "python3 b.py"`
    const scriptHooks = (...given: unknown[]) => {
      asked.push(given)
      return {}
    }
    await agentOf(text, { trust: true, scriptHooks })
    expect(asked).toEqual([[{ beforeTurn: 'hooks/a.sh', onError: 'python3 b.py' }, { path: '.' }]])
    expect(await refusal(text, { trust: true })).toMatchObject({ code: 'unsupported', field: 'callbacks' })
  })

  it.each([
    ['callbacks', 'before_loop = "my_plugin::before_loop"', 'invalidField'],
    ['callbacks', 'before_task = "a.sh"', 'unsupported'],
    ['hooks', 'transform_context = "my_plugin::transform"', 'unsupported'],
  ])('rejects plugin callbacks and names them: [%s] %s', async (section, line, code) => {
    const error = await refusal(`${provider}[${section}]\n${line}`, { trust: true, scriptHooks: () => ({}) })
    expect(error).toMatchObject({ code, field: `${section}.${line.split(' ')[0]}` })
  })
})

describe('host options', () => {
  it.each([{ env: 5 }, { workspace: {} }, { tools: 5 }, { sessions: {} }, { trust: 'yes' }, { fetch: 1 }, { nonsense: 1 }, { logger: {} }])(
    'rejects an invalid host: %j',
    async (host) => {
      expect(await refusal(provider, host as never)).toMatchObject({
        code: 'invalidOption',
        message: expect.stringContaining(Object.keys(host)[0] ?? ''),
      })
    },
  )
})
