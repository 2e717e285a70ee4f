import type { ThinkingLevel, ToolChoice } from '../../../src/index.ts'
import type { ServiceId } from '../models/services.ts'
import { settingsKey } from './settings-key.ts'

export const modelSources = ['scripted', 'direct', 'proxy', 'local'] as const
type ToolChoiceWord = Extract<ToolChoice, string>
/** Tool choices in the dialog. */
export const toolChoices: Readonly<Record<ToolChoiceWord, string>> = { auto: 'as it likes', none: 'no tools', required: 'one at least' }
export const toolChoiceWords = Object.keys(toolChoices) as ToolChoiceWord[] // the keys of the table above
export const toolNames = ['list_files', 'read_file', 'search', 'write_file', 'edit_file', 'prun', 'revert'] as const
export type ToolName = (typeof toolNames)[number]

/** How a model is reached: scripted, with the visitor's own key, through a proxy that holds the key, or on this machine. */
export interface ModelChoice {
  source: (typeof modelSources)[number]
  service: ServiceId
  modelId: string
  /** URL of the proxy with the name of its upstream, of the local server, or of the visitor's resource. Empty: the provider's own. */
  address: string
  /** Tokens. 0: what the factory assumes. */
  contextWindow: number
  /** USD per million tokens. 0: unknown. */
  inputPrice: number
  outputPrice: number
  /** Provider-executed tools, by the names of `models/service-tools.ts`. */
  serviceTools: readonly string[]
}

/** An MCP server of the settings. */
export interface McpServerChoice {
  /** Its Streamable HTTP URL. */
  address: string
  isOn: boolean
}

/** The most MCP servers. */
export const mostServers = 10

/** Request settings. */
export interface RequestChoice {
  /** Maximum response tokens. 0: the default of the model's factory. */
  maxTokens: number
  /** Undefined: the provider's default. */
  temperature?: number | undefined
  /** Stop sequences. */
  stop: readonly string[]
  toolChoice: ToolChoiceWord
  /** JSON Schema of the response, as text. Empty: none. */
  schema: string
}

/** Everything a visitor can choose. Holds no secret: keys are in `models/key-vault.ts`. */
export interface Settings {
  /** Place of the agent. */
  place: 'tab' | 'server'
  /** URL of `createAgentApp`. Empty: the origin of the page. */
  serverUrl: string
  model: ModelChoice
  request: RequestChoice
  systemPrompt: string
  thinking: ThinkingLevel
  tools: readonly ToolName[]
  /** Servers whose tools the agent gets too. */
  mcpServers: readonly McpServerChoice[]
  /** Tools that write wait for a person. */
  asksBeforeWriting: boolean
  limits: { maxTurns: number; maxTotalTokens: number; maxMinutes: number }
  compaction: {
    isOn: boolean
    /** Tokens of a prompt. 0: what the model has room for. */
    maxContextTokens: number
    /** Percent of that. */
    compactAt: number
    keepRecentTurns: number
  }
}

export const defaultSettings: Settings = {
  place: 'tab',
  serverUrl: '',
  model: {
    ...{ source: 'scripted', service: 'anthropic', modelId: 'claude-sonnet-4-6', address: '' },
    ...{ contextWindow: 0, inputPrice: 0, outputPrice: 0, serviceTools: [] },
  },
  request: { maxTokens: 0, stop: [], toolChoice: 'auto', schema: '' },
  systemPrompt: 'You are a helpful assistant. You may read and write the files of this workspace.',
  thinking: 'low',
  tools: ['list_files', 'read_file', 'search', 'write_file'],
  mcpServers: [],
  asksBeforeWriting: true,
  limits: { maxTurns: 600, maxTotalTokens: 1_000_000, maxMinutes: 10 },
  compaction: { isOn: true, maxContextTokens: 0, compactAt: 90, keepRecentTurns: 10 },
}

/** The stored settings; `undefined` without any. */
export function keptSettings(): string | undefined {
  try {
    return localStorage.getItem(settingsKey) ?? undefined
  } catch {
    return undefined
  }
}

/** Whether they are there again after a reload: a browser without storage begins with the defaults. */
export function keepSettings(settings: Settings): boolean {
  try {
    localStorage.setItem(settingsKey, JSON.stringify(settings))
    return true
  } catch {
    return false
  }
}
