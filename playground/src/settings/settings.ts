import { type ThinkingLevel, type ToolChoice, thinkingLevels } from '../../../src/index.ts'
import { isServiceId, type ServiceId } from '../models/services.ts'
import { settingsKey } from './settings-key.ts'

export const modelSources = ['scripted', 'direct', 'proxy', 'local'] as const
type ToolChoiceWord = Extract<ToolChoice, string>
/** What a model may, or must, do about tools, as the dialog calls it. */
export const toolChoices: Readonly<Record<ToolChoiceWord, string>> = { auto: 'as it likes', none: 'no tools', required: 'one at least' }
export const toolChoiceWords = Object.keys(toolChoices) as ToolChoiceWord[] // the keys of the table above
export const toolNames = ['list_files', 'read_file', 'search', 'write_file', 'edit_file', 'prun', 'revert'] as const
export type ToolName = (typeof toolNames)[number]

/** Which model answers, and how it is reached: scripted, with the visitor's own key, through a proxy that holds the key, on this machine. */
export interface ModelChoice {
  source: (typeof modelSources)[number]
  service: ServiceId
  modelId: string
  /** Of the proxy with the name of its upstream, of the local server, or of the visitor's resource. Empty: the service's own. */
  address: string
  /** Tokens. 0: what the factory assumes. */
  contextWindow: number
  /** USD per million tokens. 0: unknown. */
  inputPrice: number
  outputPrice: number
  /** Tools that the service runs, by the names of `models/service-tools.ts`. */
  serviceTools: readonly string[]
}

/** An MCP server of the settings. */
export interface McpServerChoice {
  /** Where it speaks Streamable HTTP. */
  address: string
  isOn: boolean
}

/** The most MCP servers. */
export const mostServers = 10

/** What is asked of each request, beside the conversation. */
export interface RequestChoice {
  /** Tokens of an answer. 0: what the model's factory assumes. */
  maxTokens: number
  /** Undefined: the service's own. */
  temperature?: number | undefined
  /** Texts that end an answer. */
  stop: readonly string[]
  toolChoice: ToolChoiceWord
  /** JSON Schema that an answer must fit, as text. Empty: none. */
  schema: string
}

/** Everything a visitor can choose. Holds no secret: keys are in `models/key-vault.ts`. */
export interface Settings {
  /** Where the agent runs. */
  place: 'tab' | 'server'
  /** Where `createAgentApp` is. Empty: where the page came from. */
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

/** Settings from text that may be of another version, or of anybody: what is not understood has its default. */
export function settingsFrom(value: unknown): Settings {
  const given = fieldsOf(value)
  const [model, limits, compaction] = [fieldsOf(given.model), fieldsOf(given.limits), fieldsOf(given.compaction)]
  const asked: unknown[] | undefined = Array.isArray(given.tools) ? given.tools : undefined
  const { limits: limit, compaction: compact, model: choice } = defaultSettings
  return {
    place: oneOf(given.place, ['tab', 'server'], 'tab'),
    serverUrl: text(given.serverUrl, ''),
    model: {
      source: oneOf(model.source, modelSources, choice.source),
      service: isServiceId(model.service) ? model.service : choice.service,
      modelId: text(model.modelId, choice.modelId),
      address: text(model.address, ''),
      contextWindow: whole(model.contextWindow, 0),
      inputPrice: number(model.inputPrice, 0),
      outputPrice: number(model.outputPrice, 0),
      serviceTools: texts(model.serviceTools, 20),
    },
    request: requestFrom(fieldsOf(given.request)),
    systemPrompt: typeof given.systemPrompt === 'string' ? given.systemPrompt : defaultSettings.systemPrompt,
    thinking: oneOf(given.thinking, thinkingLevels, defaultSettings.thinking),
    tools: asked === undefined ? defaultSettings.tools : toolNames.filter((name) => asked.includes(name)),
    mcpServers: serversFrom(given.mcpServers),
    asksBeforeWriting: typeof given.asksBeforeWriting === 'boolean' ? given.asksBeforeWriting : true,
    limits: {
      maxTurns: whole(limits.maxTurns, limit.maxTurns, 1),
      maxTotalTokens: whole(limits.maxTotalTokens, limit.maxTotalTokens, 1),
      maxMinutes: whole(limits.maxMinutes, limit.maxMinutes, 1),
    },
    compaction: {
      isOn: typeof compaction.isOn === 'boolean' ? compaction.isOn : true,
      maxContextTokens: whole(compaction.maxContextTokens, 0),
      compactAt: Math.min(100, whole(compaction.compactAt, compact.compactAt, 10)),
      keepRecentTurns: whole(compaction.keepRecentTurns, compact.keepRecentTurns),
    },
  }
}

function requestFrom({ maxTokens, temperature, stop, toolChoice, schema }: Fields): RequestChoice {
  const isTemperature = typeof temperature === 'number' && temperature >= 0 && temperature <= 2
  return {
    maxTokens: whole(maxTokens, 0),
    ...(isTemperature && { temperature }),
    stop: texts(stop, 4),
    toolChoice: oneOf(toolChoice, toolChoiceWords, 'auto'),
    schema: text(schema, ''),
  }
}

function serversFrom(value: unknown): McpServerChoice[] {
  const given: unknown[] = Array.isArray(value) ? value : []
  const servers = given.map(fieldsOf).map(({ address, isOn }) => ({ address: text(address, ''), isOn: isOn === true }))
  const isFirst = ({ address }: McpServerChoice, at: number) => servers.findIndex((other) => other.address === address) === at
  return servers
    .filter(({ address }) => address !== '')
    .filter(isFirst)
    .slice(0, mostServers)
}

/** What was chosen when the page was here last. */
export function readSettings(): Settings {
  try {
    return settingsFrom(JSON.parse(localStorage.getItem(settingsKey) ?? '{}'))
  } catch {
    return defaultSettings
  }
}

export function keepSettings(settings: Settings): void {
  try {
    localStorage.setItem(settingsKey, JSON.stringify(settings))
  } catch {
    // A browser without storage begins with the defaults again.
  }
}

type Fields = Record<string, unknown>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value.slice(0, 20_000) : fallback
}

function texts(value: unknown, most: number): string[] {
  const given: unknown[] = Array.isArray(value) ? value : []
  return given.filter((each) => typeof each === 'string' && each !== '').slice(0, most) as string[] // those that are
}

function number(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : fallback
}

function whole(value: unknown, fallback: number, least = 0): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least ? value : fallback
}

function oneOf<Name extends string>(value: unknown, names: readonly Name[], fallback: Name): Name {
  return names.find((name) => name === value) ?? fallback
}
