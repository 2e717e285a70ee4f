import type { LoopConfig } from '../loop/loop-config.ts'
import type { Model } from '../types/model.ts'
import type { ThinkingLevel } from '../types/model-config.ts'
import type { AgentTool } from '../types/tool.ts'
import type { Workspace } from '../types/workspace.ts'
import { type AgentOptions, checkOptions } from './agent-options.ts'

/** The settings an agent keeps beside its history and identity. */
export type AgentSettings = Omit<AgentOptions, 'messages' | 'agentId' | 'sessionId' | 'steeringMode' | 'followUpMode'>

/** The settings of an agent: read at any time, changed from the next run on. Source: spec/24 "BasicAgent". */
export class ConfiguredAgent {
  #settings: AgentSettings

  /** Throws `ConfigError` when there is no model, or an option cannot work. */
  constructor(settings: AgentSettings) {
    checkOptions({ ...settings, model: settings.model })
    this.#settings = settings
  }

  /** Changes settings from the next run on; `undefined` stands for the default. Throws `ConfigError`, and changes nothing, when one cannot work. */
  configure(changes: { [Name in keyof AgentSettings]?: AgentSettings[Name] | undefined }): void {
    const settings = { ...this.#settings, ...changes } as AgentSettings // what is undefined counts as left out, and the check refuses no model
    checkOptions(settings)
    this.#settings = settings
  }

  /** The settings in force for the next run. */
  get settings(): Readonly<AgentSettings> {
    return this.#settings
  }

  get model(): Model {
    return this.#settings.model
  }

  get systemPrompt(): string {
    return this.#settings.systemPrompt ?? ''
  }

  get tools(): readonly AgentTool[] {
    return this.#settings.tools ?? []
  }

  /** Replaces the tools from the next run on. */
  setTools(tools: readonly AgentTool[]): void {
    this.configure({ tools })
  }

  get thinking(): ThinkingLevel {
    return this.#settings.thinking ?? 'off'
  }

  set thinking(thinking: ThinkingLevel) {
    this.configure({ thinking })
  }

  /** Tokens per answer; `undefined` means the model's own limit. */
  get maxTokens(): number | undefined {
    return this.#settings.maxTokens
  }

  set maxTokens(value: number | undefined) {
    this.configure({ maxTokens: value })
  }

  /** Sampling temperature; `undefined` means the service's default. */
  get temperature(): number | undefined {
    return this.#settings.temperature
  }

  set temperature(value: number | undefined) {
    this.configure({ temperature: value })
  }

  get workspace(): Workspace | undefined {
    return this.#settings.workspace
  }

  /** The settings as the loop takes them. */
  protected loopConfig(): LoopConfig {
    const { thinking, contextManagement, limits, contextConfig, ...rest } = this.#settings
    return {
      ...rest,
      thinkingLevel: thinking ?? 'off',
      ...(limits !== undefined && { limits }),
      ...(contextConfig !== undefined && { contextConfig }),
      ...(contextManagement === false && { limits: false, contextConfig: false }),
    }
  }
}
