import { compactsAt } from '../../../src/context.ts'
import type { AgentOptions } from '../../../src/index.ts'
import type { InputFilter } from '../../../src/loop.ts'
import { demoTools } from '../late/answer-parts.ts'
import { plainOptions } from '../settings/agent-options.ts'
import { defaultSettings, type Settings } from '../settings/settings.ts'
import type { AgentSetup } from '../state/backend/local-backend.ts'
import { demoCost as cost, demoModel } from './model.ts'
import { demoScript } from './script.ts'

/** Small, so that a conversation visibly fills it. */
const contextTokens = 10_000
const contextConfig = { maxContextTokens: contextTokens, systemPromptTokens: 1500, compaction: { keepFirstTurns: 1, keepRecentTurns: 2 } }

/** An agent with the scripted model and tools on in-memory files. The user sets thinking and limits. */
export function demoSetup(settings: Settings = defaultSettings): AgentSetup {
  const { thinking, limits } = plainOptions(settings)
  const makeTools = demoTools.loaded
  const model = demoModel(demoScript(), 'demo', 'Demo model')
  const options: AgentOptions = {
    model,
    systemPrompt: 'You keep the logbook of a polar expedition.',
    tools: makeTools?.() ?? [],
    thinking,
    inputFilters: [noPasswords],
    ...(limits !== undefined && { limits }),
    contextConfig,
    captureTurnRequests: true,
  }
  return {
    options,
    model: {
      name: model.config.name,
      isScripted: true,
      contextTokens,
      compactsAt: compactsAt(contextConfig, model.config) ?? contextTokens,
      cost,
    },
    ...(makeTools === undefined && { tools: async () => (await demoTools.load())() }),
    race: async () => (await import('./race.ts')).demoRace(),
  }
}

/** Rejects content that does not belong in a logbook, before the model sees it. */
const noPasswords: InputFilter = (text) =>
  /password/i.test(text)
    ? { type: 'reject', reason: 'Do not store passwords in the logbook. Nothing was sent to the model.' }
    : { type: 'pass' }
