import type { ThinkingLevel, ToolChoice } from '../../../src/index.ts'
import type { ServiceId } from '../models/services.ts'
import { settingsKey } from './settings-key.ts'

export const modelSources = ['scripted', 'direct', 'proxy', 'local'] as const
type ToolChoiceWord = Extract<ToolChoice, string>
/** The tool choices in the dialog. */
export const toolChoices: Readonly<Record<ToolChoiceWord, string>> = { auto: 'as it likes', none: 'no tools', required: 'one at least' }
export const toolChoiceWords = Object.keys(toolChoices) as ToolChoiceWord[] // the keys of the table above
export const toolNames = ['list_files', 'read_file', 'search', 'write_file', 'edit_file', 'prun', 'revert'] as const
export type ToolName = (typeof toolNames)[number]

/** How a model is accessed: scripted, with the user's own key, through a proxy that has the key, or on this machine. */
export interface ModelChoice {
  source: (typeof modelSources)[number]
  service: ServiceId
  modelId: string
  /** URL for the proxy (with its upstream's name), the local server, or the user's resource. If empty, uses the provider's default. */
  address: string
  /** Number of tokens, or 0 for the factory's default. */
  contextWindow: number
  /** USD per million tokens, or 0 if unknown. */
  inputPrice: number
  outputPrice: number
  /** Provider-executed tools, by their names in `models/service-tools.ts`. */
  serviceTools: readonly string[]
}

/** An MCP server in the settings. */
export interface McpServerChoice {
  /** Its Streamable HTTP URL. */
  address: string
  isOn: boolean
}

/** Maximum number of MCP servers. */
export const mostServers = 10

export const textPaces = ['off', 'word', 'line'] as const
/** Unit in which streamed text appears. `off` shows text as it arrives. */
export type TextPace = (typeof textPaces)[number]

/** Request settings. */
export interface RequestChoice {
  /** Maximum response tokens, or 0 for the default of the model's factory. */
  maxTokens: number
  /** If `undefined`, uses the provider's default. */
  temperature?: number | undefined
  /** Stop sequences. */
  stop: readonly string[]
  toolChoice: ToolChoiceWord
  /** JSON Schema for the response, as text. Empty if there is none. */
  schema: string
}

/** Everything a user can configure. Contains no secrets, because keys are in `models/key-vault.ts`. */
export interface Settings {
  /** Where the agent runs. */
  place: 'tab' | 'server'
  /** URL of `createAgentApp`. If empty, uses the page's origin. */
  serverUrl: string
  model: ModelChoice
  request: RequestChoice
  systemPrompt: string
  thinking: ThinkingLevel
  tools: readonly ToolName[]
  /** MCP servers whose tools the agent also gets. */
  mcpServers: readonly McpServerChoice[]
  /** Whether tools that write require approval. */
  asksBeforeWriting: boolean
  limits: { maxTurns: number; maxTotalTokens: number; maxMinutes: number }
  compaction: {
    isOn: boolean
    /** Maximum tokens per prompt, or 0 for the model's context window. */
    maxContextTokens: number
    /** Percentage of `maxContextTokens`. */
    compactAt: number
    keepRecentTurns: number
  }
  textPace: TextPace
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
  textPace: 'off',
}

/** Returns the stored settings, or `undefined`. */
export function keptSettings(): string | undefined {
  try {
    return localStorage.getItem(settingsKey) ?? undefined
  } catch {
    return undefined
  }
}

/** Stores the settings. Returns whether they survive a reload. Without storage, the page starts with the defaults. */
export function keepSettings(settings: Settings): boolean {
  try {
    localStorage.setItem(settingsKey, JSON.stringify(settings))
    return true
  } catch {
    return false
  }
}
