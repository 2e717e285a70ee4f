import type { JsonObject } from '../../contract/json.ts'
import type { ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import type { RequestSettings } from '../../contract/model/request-settings.ts'
import { type SettingRules, stopTexts } from '../kit/settings/write-settings.ts'
import { isOpenAiModel } from './capabilities.ts'

/** Backends that reject or ignore `top_k`. */
const withoutTopK = new Set([
  'openai',
  'copilot',
  'groq',
  'mistral',
  'cerebras',
  'xai',
  'deepseek',
  'moonshot',
  'kimi',
  'minimax',
  'zai',
  'ollama',
])

/** Returns the rules for each setting on Chat Completions. Source: docs/concepts/models.md */
export function chatSettingRules(
  model: ModelConfig,
  { service, compat, thinks }: { service: string; compat: OpenAiCompat; thinks: boolean },
): SettingRules {
  const isOpenAi = isOpenAiModel(model, compat)
  const isRouter = compat.thinkingFormat === 'openRouter'
  // OpenAI's reasoning models reject these settings.
  const isPicky = isOpenAi && thinks
  return {
    temperature: { field: 'temperature' },
    topP: { field: 'top_p' },
    topK: isOpenAi || withoutTopK.has(service) ? undefined : { field: 'top_k' },
    stopSequences: isPicky ? () => 'takes none' : stopTexts('stop', 4),
    seed: { field: service === 'mistral' ? 'random_seed' : 'seed' },
    frequencyPenalty: isPicky ? () => 'does not take it' : { field: 'frequency_penalty' },
    presencePenalty: isPicky ? () => 'does not take it' : { field: 'presence_penalty' },
    verbosity: isPicky || isRouter ? { field: 'verbosity' } : undefined,
    serviceTier: tierRule(service, isOpenAi || isRouter),
    cacheTtl: isRouter ? () => ({}) : isOpenAi ? (ttl) => cacheFields(ttl, model, '30m') : undefined,
    user: service === 'mistral' ? undefined : { field: isOpenAi && !isRouter ? 'safety_identifier' : 'user' },
  }
}

const groqTiers = { standard: 'on_demand', flex: 'flex', priority: 'performance' } as const

function tierRule(service: string, isOpenAi: boolean): SettingRules['serviceTier'] {
  if (service === 'groq') return (tier) => (tier === 'fast' ? 'knows no tier "fast"' : { service_tier: groqTiers[tier] })
  return isOpenAi ? openAiTier : undefined
}

/** Returns OpenAI's name for the service tier. */
export function openAiTier(tier: NonNullable<RequestSettings['serviceTier']>): JsonObject {
  return { service_tier: tier === 'standard' ? 'default' : tier }
}

/** Returns the cache lifetime fields. Maps one hour to `longest` for models with selectable lifetimes, and to one day for older models. */
export function cacheFields(ttl: '5m' | '1h', { id }: ModelConfig, longest: '30m' | '12h'): JsonObject | string {
  if (ttl === '5m') return {}
  if (/(^|[/:])gpt-(5\.6|6)/.test(id)) return { prompt_cache_options: { ttl: longest } }
  return /(^|[/:])gpt-(4\.1|5)/.test(id) ? { prompt_cache_retention: '24h' } : 'sets its cache lifetime itself'
}
