import { describe, expect, it } from 'vitest'
import { keyFromEnv, modelFromEnv } from '../../../adapters/env/index.ts'
import { Agent } from '../../../src/index.ts'

const key = 'sk-test-0123456789'

describe('modelFromEnv', () => {
  it.each([
    [{ ANTHROPIC_API_KEY: key }, undefined, 'anthropicMessages', 'claude-sonnet-4-6'],
    [{ OPENAI_API_KEY: key }, undefined, 'openAiCompletions', 'gpt-5.1'],
    [{ GEMINI_API_KEY: key }, undefined, 'googleGenerativeAi', 'gemini-3.5-flash'],
    [{ ANTHROPIC_API_KEY: key, PHI_MODEL: 'ollama/llama3.3' }, undefined, 'openAiCompletions', 'llama3.3'],
    [{ OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key }, 'openai', 'openAiCompletions', 'gpt-5.1'],
    [{ OPENAI_API_KEY: key }, 'OpenAI', 'openAiCompletions', 'gpt-5.1'],
    [{ OPENAI_API_KEY: key }, 'OpenAI/gpt-5.1', 'openAiCompletions', 'gpt-5.1'],
    [{ PHI_MODEL: 'Groq/openai/gpt-oss-120b', GROQ_API_KEY: key }, undefined, 'openAiCompletions', 'openai/gpt-oss-120b'],
    [{ OPENAI_API_KEY: key, OPENAI_BASE_URL: 'https://gateway.test' }, 'openai/claude-sonnet-5', 'openAiCompletions', 'claude-sonnet-5'],
    [{ GROQ_API_KEY: key }, 'groq/llama-4', 'openAiCompletions', 'llama-4'],
    [{ ANTHROPIC_API_KEY: '  ', OPENAI_API_KEY: key }, undefined, 'openAiCompletions', 'gpt-5.1'],
  ])('maps the environment %j: %s', async (env, name, api, id) => {
    const { config } = await modelFromEnv(name, { env })
    expect([config.api, config.id]).toEqual([api, id])
    expect(JSON.stringify(config)).not.toContain(key)
  })

  it('reports the missing environment variable', async () => {
    const missing = (name: string | undefined, env: object) => modelFromEnv(name, { env })
    await expect(missing(undefined, {})).rejects.toMatchObject({ code: 'missingEnvVar' })
    await expect(missing(undefined, {})).rejects.toThrow('Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY in the environment')
    await expect(missing('anthropic', { OPENAI_API_KEY: key })).rejects.toThrow(
      'No key is set for "anthropic/claude-sonnet-4-6". Set ANTHROPIC_API_KEY in the environment.',
    )
    await expect(missing('groq/llama-4', {})).rejects.toThrow('Set GROQ_API_KEY')
    await expect(missing('nobody/x', {})).rejects.toThrow('Unknown provider "nobody" in the model name. Known: anthropic, openai,')
    await expect(missing('claude', {})).rejects.toThrow('Write provider/model')
  })

  it.each([
    ['anthropic/gpt-5.1', { ANTHROPIC_API_KEY: key }],
    ['openai/claude-sonnet-5', { OPENAI_API_KEY: key }],
    ['google/gpt-5.1', { GEMINI_API_KEY: key }],
    ['xai/claude-sonnet-5', { XAI_API_KEY: key }],
    ['openai/gpt-5.1', { OPENAI_API_KEY: 'sk-ant-0123456789' }],
  ])('rejects settings of another provider: %s', async (name, env) => {
    const refused = modelFromEnv(name, { env })
    await expect(refused).rejects.toMatchObject({ code: 'invalidOption', message: expect.stringMatching(/belongs to/) })
    await expect(refused).rejects.not.toThrow('sk-ant-0')
  })

  it('reads the process environment and a custom base URL', async () => {
    const before = { ...process.env }
    try {
      process.env.ANTHROPIC_API_KEY = key
      process.env.ANTHROPIC_BASE_URL = 'http://127.0.0.1:1'
      delete process.env.PHI_MODEL
      const model = await modelFromEnv()
      expect(model.config.baseUrl).toBe('http://127.0.0.1:1')
      expect(new Agent({ model }).settings.model).toBe(model)
    } finally {
      for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'PHI_MODEL']) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    }
  })
})

describe('keyFromEnv', () => {
  it('returns the value or reports the missing variable and similar ones', () => {
    expect(keyFromEnv('GROQ_API_KEY', { env: { GROQ_API_KEY: key } })).toBe(key)
    const env = { OPENAI_API_KEY: key, GEMINI_API_KEY: key }
    expect(() => keyFromEnv('ANTHROPIC_API_KEY', { env })).toThrow(
      'ANTHROPIC_API_KEY is unset or empty. Set ANTHROPIC_API_KEY in the environment. OPENAI_API_KEY and GEMINI_API_KEY are set.',
    )
    expect(() => keyFromEnv('A', { env: {} })).toThrow(expect.objectContaining({ code: 'missingEnvVar' }))
  })

  it('treats a non-string value as missing', () => {
    for (const A of [1, true, null, {}, '', ' ']) expect(() => keyFromEnv('A', { env: { A } })).toThrow('A is unset')
  })

  it('reports that Deno denied permission', () => {
    const refused = {
      get: (): string => {
        throw new TypeError('NotCapable')
      },
    }
    Object.assign(globalThis, { Deno: { env: refused } })
    try {
      expect(() => keyFromEnv('A_KEY')).toThrow('Deno denied access to A_KEY. Start the program with --allow-env=A_KEY.')
    } finally {
      Reflect.deleteProperty(globalThis, 'Deno')
    }
  })
})
