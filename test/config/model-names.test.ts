import { describe, expect, it } from 'vitest'
import { agentFromConfig, type ConfigHost, parseConfig } from '../../src/config.ts'
import type { Agent } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { agentOf, agentsOf, refusal } from '../support/agent-files.ts'

const env = {
  ANTHROPIC_API_KEY: 'key-of-anthropic',
  OPENAI_API_KEY: 'key-of-openai',
  GEMINI_API_KEY: 'key-of-google',
  GROQ_API_KEY: 'key-of-groq',
  MY_KEY: 'key-of-mine',
}

interface Sent {
  host: string
  key: string
  model: string
}

/** A host whose services fail, and what reached them. */
function listening(): { host: ConfigHost; sent: Sent[] } {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const { host, pathname } = new URL(request.url)
    const key = ['authorization', 'x-api-key', 'x-goog-api-key'].flatMap((name) => request.headers.get(name) ?? []).join()
    const body: { model?: string } = JSON.parse(await request.text())
    sent.push({ host, key: key.replace('Bearer ', ''), model: body.model ?? pathname })
    return new Response('{"error":{"message":"no"}}', { status: 400 })
  }
  return { host: { env, fetch, trust: true }, sent }
}

async function ask(agent: Agent): Promise<void> {
  await agent.prompt('hello').result
}

async function sentBy(text: string): Promise<Sent[]> {
  const { host, sent } = listening()
  await ask(await agentOf(text, host))
  return sent
}

const section = (...lines: string[]) => `[provider]\n${lines.join('\n')}\n`
const key = (name: string) => `api_key = "\${${name}}"`

describe('provider/model in an agent file', () => {
  it.each([
    [section('model = "openai/gpt-5.1"', key('OPENAI_API_KEY')), 'api.openai.com', 'key-of-openai', 'gpt-5.1'],
    [section('model = "OpenAI/gpt-5.1"', key('OPENAI_API_KEY')), 'api.openai.com', 'key-of-openai', 'gpt-5.1'],
    [section('model = "anthropic/claude-sonnet-5"', key('ANTHROPIC_API_KEY')), 'api.anthropic.com', 'key-of-anthropic', 'claude-sonnet-5'],
    [section('model = "groq/openai/gpt-oss-120b"', key('GROQ_API_KEY')), 'api.groq.com', 'key-of-groq', 'openai/gpt-oss-120b'],
    [section('model = "openai-responses/gpt-5.1"', key('OPENAI_API_KEY')), 'api.openai.com', 'key-of-openai', 'gpt-5.1'],
  ])('sends the request to the named provider: %j', async (text, host, sentKey, model) => {
    expect((await sentBy(text))[0]).toEqual({ host, key: sentKey, model })
  })

  it.each([
    [section('model = "openai/gpt-oss-120b"', 'provider = "groq"', 'api = "openai"', key('GROQ_API_KEY')), 'api.groq.com'],
    [section('model = "openai/gpt-oss-120b"', 'provider = "groq"', key('GROQ_API_KEY')), 'api.groq.com'],
    [section('model = "openai/gpt-oss-120b"', 'provider = "Groq"', 'api = "openai"', key('GROQ_API_KEY')), 'api.groq.com'],
    [
      section('model = "openai/gpt-oss-120b"', 'api = "openai"', 'base_url = "https://api.groq.com/openai/v1"', key('GROQ_API_KEY')),
      'api.groq.com',
    ],
    [section('model = "openai/gpt-oss-120b"', 'base_url = "https://gateway.test"', key('MY_KEY')), 'gateway.test'],
  ])('treats the whole value as a model id if another key names the API: %j', async (text, host) => {
    expect((await sentBy(text))[0]).toMatchObject({ host, model: 'openai/gpt-oss-120b' })
  })

  it.each([
    ['json', '{"provider":{"model":"openai/gpt-5.1","api_key":"${OPENAI_API_KEY}"}}'],
    ['yaml', 'provider:\n  model: openai/gpt-5.1\n  api_key: ${OPENAI_API_KEY}\n'],
  ] as const)('gives the same result in %s', async (format, text) => {
    const { host, sent } = listening()
    await ask(await agentFromConfig((await parseConfig(text, format)).config, host))
    expect(sent[0]).toEqual({ host: 'api.openai.com', key: 'key-of-openai', model: 'gpt-5.1' })
  })

  it.each(['nobody/model-1', 'meta-llama/Llama-3', '/gpt-5.1', 'openai/', 'models/gemini-3'])(
    'rejects an unknown provider: %s',
    async (model) => {
      const error = await refusal(section(`model = "${model}"`, 'api_key = "k"'), { trust: true })
      expect(error).toMatchObject({ code: 'invalidField', field: 'provider.model', line: 2 })
      if (!model.startsWith('/') && !model.endsWith('/')) expect(error.message).toContain('Known: anthropic, openai,')
    },
  )

  it('passes the model name to a host with createModel', async () => {
    const made: unknown[] = []
    await agentOf(section('model = "mine/x"'), {
      createModel: ({ model }) => {
        made.push(model)
        return anthropic('claude-sonnet-5', { apiKey: 'k' })
      },
    })
    expect(made).toEqual(['mine/x'])
  })

  it('resolves provider/model in instances and fallbacks, each with its own key', async () => {
    const text = `${section('model = "openai/gpt-5.1"', key('OPENAI_API_KEY'), 'fallback = ["{{other}}"]')}
[[provider.instances]]
id = "other"
model = "google/gemini-3.5-flash"
${key('GEMINI_API_KEY')}
[[agent.instances]]
name = "a"
provider = "{{other}}"`
    const { host, sent } = listening()
    for (const agent of (await agentsOf(text, host)).values()) await ask(agent)
    expect(sent[0]).toMatchObject({ host: 'generativelanguage.googleapis.com', key: 'key-of-google' })
    await ask(await agentOf(text, host))
    expect(sent.slice(1)[0]).toMatchObject({ host: 'api.openai.com', key: 'key-of-openai' })
  })
})

describe('the model of a sub-agent', () => {
  const withSub = (provider: string, model: string) =>
    `${provider}[[sub_agents.instances]]\nname = "s"\ndescription = "d"\nmodel = "${model}"\n`

  it.each([
    [section('model = "openai/gpt-5.1"', key('OPENAI_API_KEY')), 'gpt-5-mini'],
    [section('model = "openai/gpt-5.1"', key('OPENAI_API_KEY')), 'openai/gpt-5-mini'],
    [section('model = "claude-sonnet-5"', key('ANTHROPIC_API_KEY')), 'anthropic/claude-haiku-4-5'],
    [section('model = "openai/gpt-oss-120b"', 'provider = "groq"', key('GROQ_API_KEY')), 'openai/gpt-oss-20b'],
  ])("uses the provider of the sub-agent's section: %j, %s", async (provider, model) => {
    const agent = await agentOf(withSub(provider, model), { env, trust: true })
    expect(agent.settings.tools?.some(({ name }) => name === 's')).toBe(true)
  })

  it.each([
    [section('model = "claude-sonnet-5"', key('MY_KEY')), 'openai/gpt-5.1'],
    [section('model = "claude-sonnet-5"', key('MY_KEY')), 'gpt-5.1'],
    [section('model = "openai/gpt-5.1"', key('MY_KEY')), 'anthropic/claude-sonnet-5'],
    [section('model = "openai/gpt-5.1"', key('MY_KEY')), 'claude-sonnet-5'],
    [section('model = "claude-sonnet-5"', 'api = "anthropic"', key('MY_KEY')), 'openai/gpt-5.1'],
  ])("rejects sending the section's key to another provider: %j, %s", async (provider, model) => {
    const error = await refusal(withSub(provider, model), { env, trust: true })
    expect(error).toMatchObject({ code: 'invalidField', field: 'sub_agents.instances[0].model' })
  })

  it('checks the provider against a model of the host', async () => {
    const models = { main: anthropic('claude-sonnet-5', { apiKey: 'k' }) }
    const text = withSub(section('model = "claude-sonnet-5"', 'api_key = "k"'), 'gpt-5.1').replace(
      'name = "s"',
      'name = "s"\nprovider = "{{#main#}}"',
    )
    const error = await refusal(text, { models, trust: true })
    expect(error).toMatchObject({ code: 'invalidField', field: 'sub_agents.instances[0].model' })
  })
})

describe('API keys in an agent file', () => {
  it.each([
    ['claude-sonnet-5', '', 'OPENAI_API_KEY'],
    ['openai/gpt-5.1', '', 'ANTHROPIC_API_KEY'],
    ['llama-4', 'provider = "groq"', 'OPENAI_API_KEY'],
    ['llama-4', 'provider = "openrouter"', 'ANTHROPIC_API_KEY'],
    ['m', 'api = "openai"\nbase_url = "https://api.groq.com/openai/v1"', 'OPENAI_API_KEY'],
    ['gemini-3.5-flash', 'api = "google"', 'OPENAI_API_KEY'],
  ])('rejects a key of another provider: %s, %s, %s', async (model, more, variable) => {
    const error = await refusal(section(`model = "${model}"`, more, key(variable)), { env, trust: true })
    expect(error).toMatchObject({ code: 'invalidField', field: 'provider.api_key' })
    expect(error.message).not.toContain('key-of-')
  })

  it("rejects another provider's key in a header", async () => {
    const text = section('model = "claude-sonnet-5"', 'api_key = "k"', 'headers = { x-other = "${OPENAI_API_KEY}" }')
    expect(await refusal(text, { env, trust: true })).toMatchObject({ field: 'provider.headers.x-other' })
  })

  it.each([
    ['api = "openai"', 'base_url = "${OPENAI_BASE_URL}"'],
    ['api = "openai"', 'url = "${OPENAI_BASE_URL}"'],
  ])('sends the key to the base URL of the same variable prefix: %s, %s', async (...lines) => {
    const { host, sent } = listening()
    const own = { ...host, env: { ...env, OPENAI_BASE_URL: 'https://openrouter.ai/api/v1' } }
    await ask(await agentOf(section('model = "openai/gpt-5.1"', ...lines, key('OPENAI_API_KEY')), own))
    expect(sent).toMatchObject([{ host: 'openrouter.ai', key: 'key-of-openai', model: 'openai/gpt-5.1' }])
  })

  it.each(['${GROQ_BASE_URL}', 'https://${GROQ_HOST}/openai/v1', '${OPENAI_BASE_URL}/openai/v1'])(
    'rejects a base URL of another variable or a partial one: %s',
    async (address) => {
      const own = {
        ...env,
        GROQ_BASE_URL: 'https://api.groq.com/openai/v1',
        GROQ_HOST: 'api.groq.com',
        OPENAI_BASE_URL: 'https://api.groq.com',
      }
      const error = await refusal(section('model = "m"', 'api = "openai"', `base_url = "${address}"`, key('OPENAI_API_KEY')), {
        env: own,
        trust: true,
      })
      expect(error).toMatchObject({ code: 'invalidField', field: 'provider.api_key' })
    },
  )

  it.each([
    'api = "azure"\nbase_url = "https://mine.openai.azure.com"',
    'api = "openai"\nbase_url = "https://gateway.ai.cloudflare.com/v1/a/b/openai"',
    'api = "openai"\nbase_url = "http://localhost:4000/v1"',
    'api = "openai"\nbase_url = "https://litellm.mine.test/v1"',
  ])('accepts any key for a cloud account or gateway: %s', async (lines) => {
    const sent = await sentBy(section('model = "gpt-5.1"', lines, key('OPENAI_API_KEY')))
    expect(sent).toHaveLength(1)
  })

  it('accepts any key for a custom base URL', async () => {
    expect(await sentBy(section('model = "gpt-5.1"', 'base_url = "https://gateway.test"', key('OPENAI_API_KEY')))).toMatchObject([
      { host: 'gateway.test', key: 'key-of-openai', model: 'gpt-5.1' },
    ])
  })
})

describe('a model of another vendor', () => {
  it.each([
    ['gpt-5.1', ''],
    ['GPT-5.1', 'api = "anthropic"'],
    ['openai/gpt-5.1', 'api = "anthropic"'],
    ['gemini-3.5-flash', 'provider = "anthropic"'],
    ['claude-sonnet-5', 'api = "openai"'],
    ['claude-sonnet-5', 'api = "openai_responses"'],
    ['gemini-3.5-flash', 'api = "openai"\nbase_url = "https://api.openai.com/v1/"'],
    ['grok-5', 'api = "google"'],
    ['claude-sonnet-5', 'provider = "xai"'],
    ['claude-sonnet-5', 'api = "anthropic"\nbase_url = "https://api.openai.com"'],
  ])("rejects another vendor's model at a vendor's own base URL: %s, %s", async (model, more) => {
    const { host, sent } = listening()
    const error = await refusal(section(`model = "${model}"`, more, key('MY_KEY')), host)
    expect(error).toMatchObject({ code: 'invalidField', field: 'provider.model' })
    expect(sent).toEqual([])
  })

  it.each([
    ['gpt-5.1', 'base_url = "https://gateway.test"'],
    ['gpt-5.1', 'api = "azure"\nresource = "r"'],
    ['openai.gpt-oss-120b', 'api = "bedrock"'],
    ['claude-sonnet-5', 'provider = "openrouter"'],
    ['claude-sonnet-5', 'api = "anthropic"\nbase_url = "https://api.deepseek.com/anthropic"'],
    ['my-model', ''],
    ['gpt-oss-120b', 'provider = "cerebras"'],
  ])("accepts another vendor's model at gateways and clouds: %s, %s", async (model, more) => {
    const agent = await agentOf(section(`model = "${model}"`, more, key('MY_KEY')), { env, trust: true })
    expect(agent.settings.model.config.id).toBe(model)
  })
})
