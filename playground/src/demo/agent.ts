import { SubAgentTool } from '../../../src/agent/index.ts'
import { compactsAt } from '../../../src/context/index.ts'
import type { AgentOptions, AgentTool } from '../../../src/index.ts'
import type { InputFilter } from '../../../src/loop/index.ts'
import { memoryWorkspace, readFileTool, searchTool, type Workspace } from '../../../src/tools/index.ts'
import { plainOptions } from '../settings/agent-options.ts'
import { defaultSettings, type Settings } from '../settings/settings.ts'
import type { AgentSetup } from '../state/backend/local-backend.ts'
import { files } from './files.ts'
import { demoCost as cost, type DemoScript, demoModel } from './model.ts'
import { demoScript, usageCounter } from './script.ts'
import { demoTools } from './tools.ts'

/** Small, so that a conversation fills it while one looks on. */
const contextTokens = 10_000
const contextConfig = { maxContextTokens: contextTokens, systemPromptTokens: 1500, compaction: { keepFirstTurns: 1, keepRecentTurns: 2 } }

/** An agent on the scripted model, with tools over files in memory: its answers know them. Thinking and limits are the visitor's. */
export function demoSetup(settings: Settings = defaultSettings): AgentSetup {
  const { thinking, limits } = plainOptions(settings)
  const workspace = memoryWorkspace(files)
  const model = demoModel(demoScript(), 'demo', 'Demo model')
  const options: AgentOptions = {
    model,
    systemPrompt: 'You keep the logbook of a polar expedition.',
    tools: [...demoTools(workspace), naturalist(workspace)],
    workspace,
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
    race: async () => (await import('./race.ts')).demoRace(),
  }
}

/** Refuses what should not be in a logbook, before the model sees it. */
const noPasswords: InputFilter = (text) =>
  /password/i.test(text) ? { type: 'reject', reason: 'A logbook is no place for passwords: the model was not asked.' } : { type: 'pass' }

/** A sub-agent with a scripted model of its own. */
function naturalist(workspace: Workspace): AgentTool {
  const counted = usageCounter()
  const script: DemoScript = (request) => {
    const found = request.messages.findLast((message) => message.role === 'toolResult')
    const step =
      found === undefined
        ? {
            thinking: 'Each sighting should be in log/.',
            text: 'I search the logbook.',
            toolCalls: [{ name: 'search', arguments: { pattern: 'walrus', path: 'log' } }],
          }
        : { text: 'Three walruses: two on Monday, one on Wednesday.' }
    return { ...step, usage: counted(request, step) }
  }
  return new SubAgentTool({
    name: 'naturalist',
    description: 'Knows animals, and reads the logbook for them.',
    systemPrompt: 'Count carefully.',
    model: demoModel(script, 'demo-naturalist', 'Demo naturalist'),
    tools: [searchTool({ workspace }), readFileTool({ workspace })],
    forward: 'events',
  })
}
