import { thinkingLevels } from '../../../src/index.ts'
import { isServiceId } from '../models/services.ts'
import {
  defaultSettings,
  type McpServerChoice,
  modelSources,
  mostServers,
  type RequestChoice,
  type Settings,
  textPaces,
  toolChoiceWords,
  toolNames,
} from './settings.ts'

/** Parses settings from untrusted text, possibly from another version. Returns the defaults for invalid JSON. */
export function parseSettings(text: string): Settings {
  try {
    return settingsFrom(JSON.parse(text))
  } catch {
    return defaultSettings
  }
}

/** Parses settings from an untrusted value. Invalid fields get their defaults. */
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
    textPace: oneOf(given.textPace, textPaces, 'off'),
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

type Fields = Record<string, unknown>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value.slice(0, 20_000) : fallback
}

function texts(value: unknown, most: number): string[] {
  const given: unknown[] = Array.isArray(value) ? value : []
  return given.filter((each) => typeof each === 'string' && each !== '').slice(0, most) as string[] // filtered to strings
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
