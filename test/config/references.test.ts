import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseReference } from '../../src/config/references.ts'
import { agentsOf, provider, refusal } from '../support/agent-files.ts'

describe('parseReference', () => {
  it.each([
    ['{{a.b}}', { isSystem: false, isShared: false, namespace: 'a', name: 'b' }],
    ['{{%a.b%}}', { isSystem: false, isShared: true, namespace: 'a', name: 'b' }],
    ['{{b}}', { isSystem: false, isShared: false, name: 'b' }],
    ['{{%b%}}', { isSystem: false, isShared: true, name: 'b' }],
    ['{{#x.y#}}', { isSystem: true, isShared: true, name: 'x.y' }],
    ['{{ é-1 }}', { isSystem: false, isShared: false, name: 'é-1' }],
    ['{{}}', undefined],
    ['{{ }}', undefined],
    ['b', undefined],
    ['{{a}} {{b}}', undefined],
    ['{{a', undefined],
    ['{{%a}}', 'malformed'],
    ['{{a%}}', 'malformed'],
    ['{{a.b.c}}', 'malformed'],
    ['{{.a}}', 'malformed'],
    ['{{#a}}', 'malformed'],
    ['{{##}}', 'malformed'],
  ])('parses %s', (text, expected) => expect(parseReference(text)).toEqual(expected))

  it('classifies any text in linear time', () => {
    const pieces = fc.array(fc.constantFrom('{', '}', '{{', '}}', '%', '#', '.', 'a', ' ', '\n', '😀'), { maxLength: 60 })
    fc.assert(
      fc.property(pieces, (parts) => {
        const found = parseReference(parts.join(''))
        if (found !== undefined && found !== 'malformed') expect(found.name.trim()).toBe(found.name)
      }),
    )
    expect(parseReference(`{{${'a.'.repeat(60_000)}}}`)).toBe('malformed')
  })
})

const two = `${provider}
[[provider.instances]]
id = "{{%fast%}}"
name = "Fast one"
model = "f"
api_key = "k"
[[provider.instances]]
name = "plain"
model = "p"
api_key = "k"
[[agent.profile.instances]]
id = "{{reviewer}}"
[[agent.profile.instances]]
id = "{{plain}}"
`
const agentsWith = (...references: string[]) =>
  agentsOf(`${two}${references.map((reference, at) => `[[agent.instances]]\nname = "a${at}"\nprovider = "${reference}"\n`).join('')}`)

describe('reference fields', () => {
  it('accepts qualified, unique, id and name references', async () => {
    const agents = await agentsWith('{{provider.fast}}', '{{%fast%}}', 'fast', 'Fast one', '{{provider.plain}}', 'plain')
    expect([...agents.values()].map(({ settings }) => settings.model.config.id)).toEqual(['f', 'f', 'f', 'f', 'p', 'p'])
  })

  it('builds a separate model per reference, but shares one with %', async () => {
    const agents = await agentsWith('{{%fast%}}', '{{%provider.fast%}}', '{{fast}}', '{{fast}}')
    const [a, b, c, d] = [...agents.values()].map(({ settings }) => settings.model)
    expect(a).toBe(b)
    expect(new Set([a, c, d]).size).toBe(3)
  })

  const refusalWith = (line: string) => refusal(`${two}[[agent.instances]]\n${line}`)

  it.each([
    ['provider = "{{plain}}"', 'agent.instances[0].provider', 'ambiguous: {{agent_profile.plain}}'],
    ['provider = "{{reviewer}}"', 'agent.instances[0].provider', 'It is a agent_profile'],
    ['provider = "{{agent_profile.reviewer}}"', 'agent.instances[0].provider', 'which names a agent_profile'],
    ['provider = "{{provder.fast}}"', 'agent.instances[0].provider', 'Did you mean provider?'],
    ['provider = "{{fsat}}"', 'agent.instances[0].provider', 'Did you mean fast?'],
    ['provider = "{{%fast}}"', 'agent.instances[0].provider', 'which is not a reference'],
    ['provider = "{{#host-model#}}"', 'agent.instances[0].provider', 'which the host does not define. It defines: none'],
    ['agent_profile = "nobody"', 'agent.instances[0].agent_profile', 'no such agent_profile'],
    ['agent_profile = "{{#p#}}"', 'agent.instances[0].agent_profile', 'profile_id'],
    ['system_prompt = "{{system_prompt.none}}"', 'agent.instances[0].system_prompt', 'defines no system_prompt'],
    ['profile = { compaction = "{{compaction.none}}" }', 'agent.instances[0].profile.compaction', 'defines no compaction'],
  ])('rejects %s', async (line, field, words) => {
    expect(await refusalWith(line)).toMatchObject({
      code: 'badReference',
      field,
      message: expect.stringContaining(words),
      line: expect.any(Number),
    })
  })

  it('rejects prompts that refer to prompts', async () => {
    const text = `${provider}[agent]\nsystem_prompt = "{{p}}"\n[[system_prompt.instances]]\nid = "{{p}}"\ntype = "{{system_prompt.p}}"\na = "{{p}}"`
    expect(await refusal(text)).toMatchObject({ code: 'badReference', field: 'system_prompt.instances[0].type' })
  })

  it('accepts a host model by id', async () => {
    const [agent] = (await agentsWith('fast')).values()
    const model = agent?.settings.model
    if (model === undefined) throw new Error('no agent')
    const text = `[[agent.instances]]\nprovider = "{{#mine#}}"`
    expect((await agentsOf(text, { models: { mine: model } })).get('unnamed')?.settings.model).toBe(model)
  })
})

describe('reference ids', () => {
  it.each([
    ['[[provider.instances]]\nid = "{{a}}"\n[[provider.instances]]\nid = "{{%a%}}"', 'provider.instances[1]'],
    ['[[compaction.instances]]\nid = "a"\n[[context.compaction.instances]]\nid = "a"', 'context.compaction.instances[0]'],
    ['[[provider.instances]]\nid = "{{#a#}}"', 'provider.instances[0].id'],
    ['[[provider.instances]]\nid = "{{%a}}"', 'provider.instances[0].id'],
    ['[[provider.instances]]\nid = "{{sub_agent.a}}"', 'provider.instances[0].id'],
  ])('requires valid and unique ids: %s', async (text, field) => {
    expect(await refusal(`${provider}${text}`)).toMatchObject({ code: 'badReference', field })
  })
})
