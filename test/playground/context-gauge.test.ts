import { expect, it } from 'vitest'
import { agentSetup } from '../../playground/src/settings/agent-setup.ts'
import { defaultSettings } from '../../playground/src/settings/settings.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it.each([90, 60])('marks the compaction threshold in the gauge: %i %%', async (compactAt) => {
  const { model: choice, compaction } = defaultSettings
  const settings = {
    ...defaultSettings,
    model: { ...choice, source: 'local' as const, modelId: 'm', contextWindow: 20_000 },
    compaction: { ...compaction, compactAt, keepRecentTurns: 1 },
  }
  const { options, model } = (await agentSetup(settings))()
  /** Whether the agent compacts before the prompt after an answer that took so many tokens. */
  const compacts = async (tokens: number) => {
    const answers = Array.from({ length: 8 }, (_, at) => ({ text: `Answer ${at}.`, usage: { input: at < 6 ? 100 : tokens, output: 0 } }))
    const agent = new Agent({
      ...options,
      model: scripted(answers, { config: { contextWindow: 20_000, maxTokens: options.model.config.maxTokens } }),
    })
    const seen: string[] = []
    agent.subscribe(({ type }) => seen.push(type))
    for (let prompts = 0; prompts < 8; prompts += 1) await agent.prompt('Go on.').result
    return seen.includes('compactionStarted')
  }
  const promptTokens = 50 // what the next prompt adds, by estimate
  expect([await compacts(model.compactsAt - promptTokens), await compacts(model.compactsAt)]).toEqual([false, true])
})
