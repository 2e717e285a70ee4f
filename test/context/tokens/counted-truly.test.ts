import { describe, expect, it } from 'vitest'
import type { ContextConfig } from '../../../src/context.ts'
import { Agent, type AgentEvent, ConfigError } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { longHistory, requestTokens } from '../../support/long-history.ts'

interface Case {
  contextConfig?: Partial<ContextConfig>
  /** What the service says that the first prompt took, in tokens. */
  reported?: number
  /** Turns of 100 tokens in the history. */
  turns?: number
  window?: number
  maxTokens?: number
  systemPrompt?: string
}

/** Whether the second prompt of an agent compacts. */
async function compacts({ contextConfig, reported = 0, turns = 20, window = 1_000_000, maxTokens = 1000, systemPrompt = '' }: Case) {
  const usage = { input: reported, output: 1 }
  const model = scripted(
    [
      { text: 'ok', usage },
      { text: 'ok', usage },
    ],
    { config: { contextWindow: window, maxTokens } },
  )
  const agent = new Agent({ model, systemPrompt, messages: longHistory(turns, 100), ...(contextConfig && { contextConfig }) })
  await agent.prompt('one').result
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  await agent.prompt('two').result
  return events.some(({ type }) => type === 'compactionStarted')
}

describe('system prompt tokens', () => {
  const contextConfig = { maxContextTokens: 53_000, systemPromptTokens: 40_000 }

  it('subtracts no system prompt tokens from a reported count', async () => {
    expect(await compacts({ contextConfig, reported: 42_500 })).toBe(false)
    expect(await compacts({ contextConfig, reported: 45_000 })).toBe(false)
    expect(await compacts({ contextConfig, reported: 45_100 })).toBe(true)
  })

  it('adds system prompt tokens to an estimated count', async () => {
    expect(await compacts({ contextConfig, turns: 44 })).toBe(false)
    expect(await compacts({ contextConfig, turns: 45 })).toBe(true)
  })

  it('counts the actual prompt size if it exceeds the reserve', async () => {
    const room = { maxContextTokens: 10_000, systemPromptTokens: 100 }
    expect(await compacts({ contextConfig: room, turns: 30 })).toBe(false)
    expect(await compacts({ contextConfig: room, turns: 30, systemPrompt: 'word'.repeat(5130) })).toBe(true)
  })
})

describe('a small context window', () => {
  it.each([512, 1000, 2048, 4096, 4704, 4706, 8192])('keeps messages that fit %i tokens', async (window) => {
    const turns = Math.floor((window * 0.25) / 110)
    const model = scripted([{ text: 'ok' }], { config: { contextWindow: window, maxTokens: window } })
    const agent = new Agent({ model, messages: longHistory(turns, 100) })
    await agent.prompt('one').result
    expect(model.provider.requests[0]?.messages).toHaveLength(turns * 2 + 1)
  })

  it.each([
    { maxContextTokens: 4096, systemPromptTokens: 4000 },
    { maxContextTokens: 4705, systemPromptTokens: 4000 },
    { maxContextTokens: 100_000, systemPromptTokens: 85_000 },
    { maxContextTokens: 4000, systemPromptTokens: 0, compaction: { compactAtPct: 0.05 } },
    { maxContextTokens: 0, systemPromptTokens: 0 },
  ])('rejects %j with a reason', (contextConfig) => {
    const make = () => new Agent({ model: scripted([]), contextConfig })
    expect(make).toThrow(ConfigError)
    expect(make).toThrow(/systemPromptTokens.*maxContextTokens/s)
  })
})

describe('context limit', () => {
  it("subtracts the output limit from the model's window", async () => {
    // 0.85 × (200,000 − 16,000) = 156,400; a tenth of a million tokens is no limit any more.
    const model = { window: 200_000, maxTokens: 16_000 }
    expect(await compacts({ ...model, reported: 156_300 })).toBe(false)
    expect(await compacts({ ...model, reported: 156_500 })).toBe(true)
    expect(await compacts({ window: 1_000_000, maxTokens: 64_000, reported: 700_000 })).toBe(false)
  })

  it('reserves 32,000 tokens for a larger output limit', async () => {
    // 0.85 × (200,000 − 32,000) = 142,800
    for (const maxTokens of [32_000, 64_000, 128_000]) {
      expect(await compacts({ window: 200_000, maxTokens, reported: 142_700 })).toBe(false)
      expect(await compacts({ window: 200_000, maxTokens, reported: 142_900 })).toBe(true)
    }
  })

  it('uses the whole window if the output limit is unknown', async () => {
    expect(await compacts({ window: 100_000, maxTokens: 0, reported: 84_900 })).toBe(false)
    expect(await compacts({ window: 100_000, maxTokens: 0, reported: 85_100 })).toBe(true)
  })

  it('reserves at most half of the window for output', async () => {
    expect(await compacts({ window: 8192, maxTokens: 8192, reported: 3400 })).toBe(false)
    expect(await compacts({ window: 8192, maxTokens: 8192, reported: 3500 })).toBe(true)
  })

  it('defaults to the documented limit if the window is unknown', async () => {
    expect(await compacts({ window: 0, reported: 84_900 })).toBe(false)
    expect(await compacts({ window: 0, reported: 85_100 })).toBe(true)
  })
})

describe('a provider that reports too few tokens', () => {
  it('compacts even if the provider reports too few tokens', async () => {
    const usage = { input: 3, output: 1 }
    const model = scripted(({ messages }) => ({ text: `${messages.length} `.padEnd(400, 'word '), usage }))
    const agent = new Agent({ model, contextConfig: { maxContextTokens: 2000, systemPromptTokens: 100 } })
    for (let turn = 0; turn < 40; turn += 1) await agent.prompt(`question ${turn}`).result
    expect(Math.max(...model.provider.requests.map(requestTokens))).toBeLessThan(1700)
  })
})
