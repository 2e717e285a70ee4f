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

/** Tokens that a model is taken to have where nothing is known of it: what every current model of these services has at least. */
const assumed = 128_000

/**
 * Tokens of context by family; the first row that matches counts. For families that charge a higher price above some length, it is that length.
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

/** Tokens of context of a model of OpenAI, whoever serves it; of any other, what its service says, else 128,000. An option or a catalogue knows better. */
export function contextWindowOf(id: string, otherwise: number = assumed): number {
  return windows.find(([ids]) => ids.test(id))?.[1] ?? otherwise
}
