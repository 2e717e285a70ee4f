import type { Message } from '../../contract/message/message.ts'
import { type OutputForm, type RequestSettings, settingsIn } from '../../contract/model/request-settings.ts'
import type { TurnChangesRecord } from '../../contract/run/run-facts.ts'
import type { Model } from '../../types/model/model.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { outputFormOf } from '../../validation/response-format.ts'
import type { AgentContext, LoopConfig } from '../loop-config.ts'
import { type Offer, OfferedTools } from './offered-tools.ts'

/** One turn's setup. */
export interface TurnSetup {
  model: Model
  tools: readonly AgentTool[]
  /** Tools that a provider's search may find and the model may then call. */
  searchable: readonly AgentTool[]
  systemPrompt: string
  thinking: NonNullable<LoopConfig['thinking']>
  settings: RequestSettings
  /** Whether the turn only runs an earlier run's calls. */
  goesOn?: true
  /** Messages to send instead of the history. */
  messages?: readonly Message[] | undefined
  /** Changes made for this turn. */
  changes?: TurnChangesRecord | undefined
}

/** Creates the turns of one loop. */
export class TurnSource {
  readonly #config: LoopConfig
  readonly #context: AgentContext
  /** Request settings, unless a turn overrides them. */
  readonly #settings: RequestSettings
  readonly #offered = new OfferedTools()
  /** Path of the requested value in a JSON response. */
  readonly outputForm: OutputForm | undefined
  /** Whether the model has called a tool. */
  hasCalled = false

  constructor(config: LoopConfig, context: AgentContext) {
    this.#config = config
    this.#context = context
    this.#settings = settingsIn(config)
    this.outputForm = config.responseFormat && outputFormOf(config.responseFormat)
  }

  /** Creates a turn with the agent's settings and the given model. Default: the agent's model. */
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

  /** Returns the subset of `tools` to offer to the model now. */
  offer(tools: readonly AgentTool[]): Offer {
    return this.#offered.of(tools, this.#context.messages)
  }
}

/** Drops a forced tool choice after the first call. Otherwise, the model could never return a final response. */
function unforced(settings: RequestSettings): RequestSettings {
  const { toolChoice: choice } = settings
  if (choice === 'required' || (typeof choice === 'object' && 'tool' in choice)) return { ...settings, toolChoice: 'auto' }
  if (typeof choice === 'object' && choice.mode === 'required') return { ...settings, toolChoice: { allowed: choice.allowed } }
  return settings
}
