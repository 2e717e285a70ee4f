import type { Message } from '../../contract/message/message.ts'
import { type RequestSettings, settingsIn } from '../../contract/model/request-settings.ts'
import type { TurnChangesRecord } from '../../contract/run/run-facts.ts'
import type { Model } from '../../types/model/model.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import type { AgentContext, LoopConfig } from '../loop-config.ts'
import type { OfferedTools } from './offered-tools.ts'

/** What one turn works with. */
export interface TurnSetup {
  model: Model
  tools: readonly AgentTool[]
  /** Those that a service may find by itself; they can be called too. */
  searchable: readonly AgentTool[]
  systemPrompt: string
  thinkingLevel: NonNullable<LoopConfig['thinkingLevel']>
  settings: RequestSettings
  /** Whether it only runs calls that waited. */
  goesOn?: true
  /** What is sent in place of the history. */
  messages?: readonly Message[] | undefined
  /** What was changed for this turn. */
  changes?: TurnChangesRecord | undefined
}

/** What a turn is made of. */
interface TurnSource {
  config: LoopConfig
  /** What `config` says of requests. */
  settings: RequestSettings
  context: AgentContext
  hasCalled: boolean
  offered: OfferedTools
}

/** A turn as the agent's settings say, with its model or another. */
export function plainTurn(source: TurnSource, model: Model = source.config.model): TurnSetup {
  const { config, context, hasCalled, offered } = source
  const ofModel = model.config.settings
  const settings = ofModel === undefined ? source.settings : settingsIn({ ...ofModel, ...source.settings })
  return {
    model,
    ...offered.of(context.tools, context.messages),
    systemPrompt: context.systemPrompt,
    thinkingLevel: config.thinkingLevel ?? ofModel?.thinking ?? 'off',
    settings: hasCalled ? unforced(settings) : settings,
  }
}

/** A choice that forces a call holds until the run has made one: the model could never say what it found. */
function unforced(settings: RequestSettings): RequestSettings {
  const { toolChoice: choice } = settings
  if (choice === 'required' || (typeof choice === 'object' && 'tool' in choice)) return { ...settings, toolChoice: 'auto' }
  if (typeof choice === 'object' && choice.mode === 'required') return { ...settings, toolChoice: { allowed: choice.allowed } }
  return settings
}
