import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'

/** Differences of a model family. */
interface FamilyRow {
  ids: RegExp
  capabilities: Partial<ModelCapabilities>
}

/** Models that reason unless disabled. */
const switched: Partial<ModelCapabilities> = { thinking: 'adaptive', thinkingOff: true, efforts: [] }
/** Models that reject `disabled`, and a forced tool while reasoning. */
const thinking: Partial<ModelCapabilities> = { thinking: 'alwaysOn', thinkingOff: false, forcedToolChoice: false, efforts: [] }
const byEffort: Partial<ModelCapabilities> = { ...thinking, efforts: ['low', 'high', 'max'] }

/**
 * Moonshot's models. The first matching row wins. Treats unknown ids as the newest model. From
 * platform.kimi.ai/docs/guide/use-thinking-effort and …/kimi-k3-1-pro-quickstart, 2026-10.
 */
const kimi: readonly FamilyRow[] = [
  { ids: /kimi-k2-thinking/i, capabilities: thinking },
  { ids: /kimi-k2[.-][7-9]/i, capabilities: byEffort },
  { ids: /kimi-k2|moonshot-v1|kimi-latest/i, capabilities: switched },
  // These models accept only one temperature.
  { ids: /^/, capabilities: { ...byEffort, sampling: false } },
]

/** Returns whether a model is from Moonshot, on any provider. */
export function isKimi({ id, provider }: Pick<ModelConfig, 'id' | 'provider'>): boolean {
  return /kimi|moonshot/i.test(`${provider} ${id}`)
}

/** Returns whether a model is from MiniMax. MiniMax models write reasoning into the text as `<think>`. */
export function isMiniMax({ id, provider }: Pick<ModelConfig, 'id' | 'provider'>): boolean {
  return /minimax/i.test(`${provider} ${id}`)
}

/** Returns the family of `model` if its provider uses Moonshot's thinking switch. */
export function familyOf({ id, provider }: ModelConfig, { thinkingFormat }: OpenAiCompat): Partial<ModelCapabilities> {
  if (thinkingFormat !== 'deepSeek' || !isKimi({ id, provider })) return {}
  return kimiRow(id)
}

function kimiRow(id: string): Partial<ModelCapabilities> {
  return kimi.find(({ ids }) => ids.test(id))?.capabilities ?? {}
}

/** Open models that always reason, on any provider. */
const alwaysThinking = /(^|[/-])(qwq|qvq)(-|$)|-thinking(-|$)|deepseek-r1|minimax-m\d/i

/** Returns whether reasoning cannot be disabled for `model`. */
export function mustThink({ id, provider, capabilities: stated }: ModelConfig, { thinking }: ModelCapabilities): boolean {
  if (thinking === 'alwaysOn') return true
  if (stated?.thinkingOff !== undefined) return !stated.thinkingOff
  return alwaysThinking.test(id) || (isKimi({ id, provider }) && kimiRow(id).thinkingOff === false)
}

/** Default context window, which all current models of these providers support. */
const assumed = 128_000

/**
 * Context windows by family. The first matching row wins. For families with a higher price for long prompts, uses the limit of the lower
 * price.
 * Source: docs/providers/openai.md
 */
const windows: readonly (readonly [RegExp, number])[] = [
  [/(^|[/:.])gpt-3\.5/, 16_385],
  [/(^|[/:.])gpt-4-32k/, 32_768],
  [/(^|[/:.])gpt-4(-0[36]\d\d)?$/, 8192],
  [/(^|[/:.])gpt-4\.1/, 1_047_576],
  [/(^|[/:.])(gpt-4|chatgpt-4o|gpt-5[\d.]*-chat|gpt-5\.3-codex-spark|gpt-oss-safeguard|o1-(preview|mini))/, 128_000],
  [/(^|[/:.])gpt-5\.[45]-pro/, 1_050_000],
  [/(^|[/:.])gpt-5(\.\d+)?-(mini|nano|cyber|pro|codex)/, 400_000],
  [/(^|[/:.])(gpt-5\.[4-9]|gpt-6)/, 272_000],
  [/(^|[/:.])gpt-5/, 400_000],
  [/(^|[/:.])o[1-4](-|$)/, 200_000],
  [/(^|[/:.])gpt-oss/, 131_072],
]

/**
 * Returns the context window of an OpenAI model, on any provider. For other models, returns the provider's context window, or 128,000 if
 * unknown. Options and catalogues override the value.
 */
export function contextWindowOf(id: string, otherwise: number = assumed): number {
  return windows.find(([ids]) => ids.test(id))?.[1] ?? otherwise
}
