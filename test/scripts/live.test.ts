import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { plansFor, smoke } from '../../scripts/live.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1234, b: 4321 } }] }
const usage = { input: 20, output: 5 }

describe('live test plans', () => {
  it('skips every provider without its key, and reports it', async () => {
    const plans = plansFor({})
    expect(plans.length).toBeGreaterThan(15)
    expect(plans.every((plan) => 'missing' in plan && plan.missing.length > 0)).toBe(true)
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/live.ts'], { env: {} })
    const lines = stdout.trim().split('\n')
    expect(lines).toHaveLength(plans.length)
    expect(lines.every((line) => line.startsWith('skipped  '))).toBe(true)
    expect(stdout).toContain('anthropic: ANTHROPIC_API_KEY not set')
  })

  it('includes each provider whose key is set, with the configured model', () => {
    const env = { OPENAI_API_KEY: 'key', GEMINI_API_KEY: '', AZURE_OPENAI_API_KEY: 'key', PHI_LIVE_OPENAI_RESPONSES_MODEL: 'gpt-6-sol' }
    const plans = plansFor(env)
    const models = plans.flatMap((plan) => ('model' in plan ? [[plan.name, plan.model.config.id]] : []))
    expect(models).toEqual([
      ['openai', 'gpt-5.1'],
      ['openai-responses', 'gpt-6-sol'],
    ])
    const azure = plans.find((plan) => plan.name === 'azure')
    expect(azure).toMatchObject({ missing: ['AZURE_OPENAI_BASE_URL', 'AZURE_OPENAI_DEPLOYMENT'] })
  })

  it('builds a model for every provider', () => {
    const needed = plansFor({}).flatMap((plan) => ('missing' in plan ? plan.missing : []))
    const env = Object.fromEntries(needed.map((name) => [name, name.endsWith('_URL') ? 'https://x.openai.azure.com' : 'value']))
    const plans = plansFor(env)
    expect(plans.flatMap((plan) => ('model' in plan ? [] : [plan.name]))).toEqual([])
  })
})

describe('a smoke test', () => {
  it('passes if the model calls the tool and reports its result', async () => {
    expect(await smoke(scripted([sum, { text: '5,555.', usage }]))).toBe('20 + 0 cached in, 5 out')
  })

  it.each([
    [[{ text: '5555', usage }], 'never called the tool'],
    [[sum, { text: '4', usage }], 'not 5555'],
    [[sum, { text: '5555' }], 'no usage'],
    [[{ fail: { code: 'auth' as const, message: 'No such key.' } }], 'No such key.'],
  ])('fails otherwise: %#', async (script, message) => {
    await expect(smoke(scripted(script))).rejects.toThrow(message)
  })
})
