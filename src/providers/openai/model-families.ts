import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'

/** What sets a model apart from others of its service. */
interface FamilyRow {
  ids: RegExp
  capabilities: Partial<ModelCapabilities>
}

/** A model that thinks unless it is told not to. */
const switched: Partial<ModelCapabilities> = { thinking: 'adaptive', thinkingOff: true, efforts: [] }
/** It refuses `disabled`, and a forced tool while it thinks. */
const thinking: Partial<ModelCapabilities> = { thinking: 'alwaysOn', thinkingOff: false, forcedToolChoice: false, efforts: [] }
const byEffort: Partial<ModelCapabilities> = { ...thinking, efforts: ['low', 'high', 'max'] }

/**
 * Moonshot's models; the first row that matches counts, and unknown ids are the newest.
 * Of platform.kimi.ai/docs/guide/use-thinking-effort and …/kimi-k3-1-pro-quickstart, 2026-10.
 */
const kimi: readonly FamilyRow[] = [
  { ids: /kimi-k2-thinking/i, capabilities: thinking },
  { ids: /kimi-k2[.-][7-9]/i, capabilities: byEffort },
  { ids: /kimi-k2|moonshot-v1|kimi-latest/i, capabilities: switched },
  // They take one temperature.
  { ids: /^/, capabilities: { ...byEffort, sampling: false } },
]

/** Whether a model is one of Moonshot, wherever it is served. */
export function isKimi({ id, provider }: Pick<ModelConfig, 'id' | 'provider'>): boolean {
  return /kimi|moonshot/i.test(`${provider} ${id}`)
}

/** Whether a model is one of MiniMax, which write their reasoning into the text as `<think>`. */
export function isMiniMax({ id, provider }: Pick<ModelConfig, 'id' | 'provider'>): boolean {
  return /minimax/i.test(`${provider} ${id}`)
}

/** Returns what is known of the family of `model`, where its service is asked to think by Moonshot's switch. */
export function familyOf({ id, provider }: ModelConfig, { thinkingFormat }: OpenAiCompat): Partial<ModelCapabilities> {
  if (thinkingFormat !== 'deepSeek' || !isKimi({ id, provider })) return {}
  return kimiRow(id)
}

function kimiRow(id: string): Partial<ModelCapabilities> {
  return kimi.find(({ ids }) => ids.test(id))?.capabilities ?? {}
}

/** Open models that always think, wherever they are served. */
const alwaysThinking = /(^|[/-])(qwq|qvq)(-|$)|-thinking(-|$)|deepseek-r1|minimax-m\d/i

/** Whether `model` refuses to be told not to think. */
export function mustThink({ id, provider, capabilities: stated }: ModelConfig, { thinking }: ModelCapabilities): boolean {
  if (thinking === 'alwaysOn') return true
  if (stated?.thinkingOff !== undefined) return !stated.thinkingOff
  return alwaysThinking.test(id) || (isKimi({ id, provider }) && kimiRow(id).thinkingOff === false)
}
