import type { ModelCapabilities } from '../../../contract/model/model-config.ts'
import { type ThinkingLevel, thinkingLevel } from '../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import { adjusted } from './write-settings.ts'

/** Efforts of all services, weakest first. The levels of thinking have the same names. */
const ranks: readonly string[] = ['none', ...thinkingLevel.words.filter((level) => level !== 'off')]

/**
 * The effort that says the thinking level of `request`: the nearest one that the model knows, rather stronger than weaker. One that is weaker than
 * asked for is told in `warnings`. `undefined` where it is best left to the model.
 */
export function effortFor(request: StreamRequest, { efforts, thinking }: ModelCapabilities, warnings: string[]): string | undefined {
  const { thinkingLevel: level, model } = request
  if (level === 'off') return efforts.includes('none') ? 'none' : thinking === 'alwaysOn' ? efforts[0] : undefined
  const wanted = ranks.indexOf(level)
  const known = efforts.filter((effort) => effort !== 'none')
  const effort = known.find((each) => ranks.indexOf(each) >= wanted) ?? known.at(-1)
  const isWeaker = effort !== undefined && ranks.indexOf(effort) < wanted
  if (isWeaker) adjusted(request, `thinking lowered from ${level} to ${effort}: ${model.id} knows no more`, warnings)
  return effort
}

/** Tokens per level, for models that count what they think instead of knowing efforts, before the bounds of each. Source: docs/concepts/request-settings.md */
export const levelBudgets: Readonly<Record<Exclude<ThinkingLevel, 'off'>, number>> = {
  minimal: 128,
  low: 512,
  medium: 2048,
  high: 8192,
  xhigh: 16_384,
  max: 24_576,
}

/** Room for the answer beside such a budget, where the limit that was asked for leaves none. */
export const answerRoom = 4096
