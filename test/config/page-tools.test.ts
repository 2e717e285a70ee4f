import { describe, expect, it } from 'vitest'
import { parseConfig, trustRequests } from '../../src/config.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { agentOf, provider, refusal, toolsNamed } from '../support/agent-files.ts'

const theme = `
[[client_tools.instances]]
name = "set_theme"
description = "Sets the colours of the page."
timeout_secs = 60
trust = "Trusted"
max_result_chars = 100
[client_tools.instances.parameters]
type = "object"
required = ["theme"]
properties = { theme = { enum = ["light", "dark"] } }
[client_tools.instances.output]
type = "object"
required = ["applied"]
`
const choices = `
[[provider.instances]]
id = "{{deep}}"
model = "deeper"
api_key = "k"
[choices]
thinking = ["off", "HIGH"]
tools = ["look_up"]
client_tools = ["locate"]
[choices.models]
deep = "{{provider.deep}}"
`

describe('client tools in an agent file', () => {
  it('runs a client tool from a file like one declared in code', async () => {
    const script = [{ toolCalls: [{ name: 'set_theme', arguments: { theme: 'dark' } }] }, { text: 'Dark.' }]
    const agent = await agentOf(provider + theme, { createModel: () => scripted(script) })
    const run = agent.prompt('Make it dark.')
    run.subscribe((event) => {
      if (event.type === 'clientCallRequested') void run.answerCall(event, { output: { applied: 'dark' } })
    })
    expect(await run.text()).toBe('Dark.')
    const [tool] = agent.settings.tools ?? []
    expect(tool).toMatchObject({ description: 'Sets the colours of the page.', timeoutMs: 60_000, client: { maxResultChars: 100 } })
    await agent.close()
  })

  it.each([
    ['no schema', theme.replace('type = "object"', 'type = "string"'), 'invalidTool', 'client_tools.instances[0]'],
    ['an invalid name', theme.replace('"set_theme"', '"set theme"'), 'invalidTool', 'client_tools.instances[0]'],
    [
      'an unenforceable result schema',
      theme.replace('required = ["applied"]', '"$dynamicRef" = "#a"'),
      'unsupportedSchema',
      'client_tools.instances[0]',
    ],
    ['an invalid trust value', theme.replace('"Trusted"', '"blindly"'), 'invalidField', 'client_tools.instances[0].trust'],
  ])('rejects a client tool with %s at its position', async (_name, text, code, field) => {
    expect(await refusal(provider + text)).toMatchObject({ code, field, line: expect.any(Number) })
  })

  it('requests trust for variables in the description', async () => {
    const { config } = await parseConfig(provider + theme.replace('of the page.', 'of ${HOME}.'), 'toml')
    expect(trustRequests(config)).toContainEqual({ kind: 'variable', field: 'client_tools.instances[0].description', what: '${HOME}' })
  })
})

describe('model and tool choices in an agent file', () => {
  const host = { tools: toolsNamed('look_up', 'other') }

  it('lets prompts choose models and tools by name', async () => {
    const agent = await agentOf(provider + choices, {
      ...host,
      createModel: ({ model = '' }) => scripted(() => ({ text: model }), { id: model }),
    })
    expect(await agent.prompt('Hi.').text()).toBe('m')
    expect(await agent.prompt('Hi.', { model: 'deep', thinking: 'high', tools: ['look_up'] }).text()).toBe('deeper')
    expect(() => agent.prompt('Hi.', { model: 'm' })).toThrow(/Choose one of: deep/)
    expect(() => agent.prompt('Hi.', { thinking: 'low' })).toThrow(/off, high/)
    expect(() => agent.prompt('Hi.', { tools: ['other'] })).toThrow(/look_up/)
    expect(agent.settings.choices?.clientTools).toEqual(['locate'])
  })

  it.each([
    ['an unknown model', choices.replace('"{{provider.deep}}"', '"{{provider.huge}}"'), 'badReference', 'choices.models.deep'],
    ['an unknown tool', choices.replace('"look_up"', '"fly"'), 'invalidTool', 'choices.tools[0]'],
    ['an unknown level', choices.replace('"HIGH"', '"deep"'), 'invalidField', 'choices.thinking[1]'],
    ['an invalid choice', choices.replace('client_tools =', 'clients ='), 'unknownKey', 'choices.clients'],
  ])('reports %s at its position', async (_name, text, code, field) => {
    if (code === 'unknownKey') expect((await parseConfig(provider + text, 'toml')).warnings).toMatchObject([{ code, field }])
    else expect(await refusal(provider + text, host)).toMatchObject({ code, field, line: expect.any(Number) })
  })
})
