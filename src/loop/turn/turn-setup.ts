import type { Message } from '../../contract/message/message.ts'
import { type OutputForm, type RequestSettings, settingsIn } from '../../contract/model/request-settings.ts'
import type { TurnChangesRecord } from '../../contract/run/run-facts.ts'
import type { Model } from '../../types/model/model.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { outputFormOf } from '../../validation/response-format.ts'
import type { AgentContext, LoopConfig } from '../loop-config.ts'
import { type Offer, OfferedTools } from './offered-tools.ts'

/** What one turn works with. */
export interface TurnSetup {
  model: Model
  tools: readonly AgentTool[]
  /** Those that a service may find by itself; they can be called too. */
  searchable: readonly AgentTool[]
  systemPrompt: string
  thinking: NonNullable<LoopConfig['thinking']>
  settings: RequestSettings
  /** Whether it only runs calls that waited. */
  goesOn?: true
  /** What is sent in place of the history. */
  messages?: readonly Message[] | undefined
  /** What was changed for this turn. */
  changes?: TurnChangesRecord | undefined
}

/** What the turns of one loop are made of. */
export class TurnSource {
  readonly #config: LoopConfig
  readonly #context: AgentContext
  /** What each request says, unless its turn says otherwise. */
  readonly #settings: RequestSettings
  readonly #offered = new OfferedTools()
  /** Where in its text an answer stands, where JSON is asked for. */
  readonly outputForm: OutputForm | undefined
  /** Whether the model has called a tool. */
  hasCalled = false

  constructor(config: LoopConfig, context: AgentContext) {
    this.#config = config
    this.#context = context
    this.#settings = settingsIn(config)
    this.outputForm = config.responseFormat && outputFormOf(config.responseFormat)
  }

  /** Gives a turn as the agent's settings say, with its model or another. */
  turn(model: Model = this.#config.model): TurnSetup {
    const { systemPrompt, tools } = this.#context
    const ofModel = model.config.settings
    const settings = ofModel === undefined ? this.#settings : settingsIn({ ...ofModel, ...this.#settings })
    return {
      model,
      ...this.offer(tools),
      systemPrompt,
      thinking: this.#config.thinking ?? ofModel?.thinking ?? 'off',
      settings: this.hasCalled ? unforced(settings) : settings,
    }
  }

  /** Says which of `tools` the model is shown now. */
  offer(tools: readonly AgentTool[]): Offer {
    return this.#offered.of(tools, this.#context.messages)
  }
}

/** A choice that forces a call holds until the run has made one: the model could never say what it found. */
function unforced(settings: RequestSettings): RequestSettings {
  const { toolChoice: choice } = settings
  if (choice === 'required' || (typeof choice === 'object' && 'tool' in choice)) return { ...settings, toolChoice: 'auto' }
  if (typeof choice === 'object' && choice.mode === 'required') return { ...settings, toolChoice: { allowed: choice.allowed } }
  return settings
}
