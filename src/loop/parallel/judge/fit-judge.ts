import { estimateTokens } from '../../../context/tokens/estimate.ts'
import type { JudgeMaterial } from './judge-prompt.ts'

/** Lines of a text that the first tier keeps. */
const tailLines = 80
/** Bytes of UTF-8 that the last tier keeps in any case. */
const minBytes = 200
const bytesPerToken = 4
const ellipsis = '...'

/** The last 80 lines. */
export function keepTail(text: string): string {
  return text.split('\n').slice(-tailLines).join('\n')
}

/** The first and the last paragraph, where that is shorter. */
export function keepEnds(text: string): string {
  const paragraphs = text.split(/\n\s*\n/)
  const shorter = `${paragraphs[0] ?? ''}\n\n${ellipsis}\n\n${paragraphs.at(-1) ?? ''}`
  return shorter.length < text.length ? shorter : text
}

/** At most `limit` bytes of UTF-8, an ellipsis included where something was cut. Never cuts a character in two. */
export function keepStart(text: string, limit: number): string {
  const encoder = new TextEncoder()
  if (encoder.encodeInto(text, new Uint8Array(limit)).read === text.length) return text
  const { read } = encoder.encodeInto(text, new Uint8Array(limit - ellipsis.length))
  return `${text.slice(0, read)}${ellipsis}`
}

/**
 * `material` cut down so that context and responses together have at most `budget` tokens.
 *
 * **Contract**
 * - First the context alone, in three steps: last 80 lines, first and last paragraph, a hard limit. Only when that is not enough the
 *   responses too, in the same steps. It stops at the first step that fits. The query stays whole.
 * - The hard limit shares out the tokens that remain, at least 200 bytes for each text; `fits` is false when that is too much.
 *
 * Source: docs/concepts/parallel-loops.md
 */
export function fitForJudge(
  material: JudgeMaterial,
  budget: number,
  count: (text: string) => number = estimateTokens,
): { material: JudgeMaterial; fits: boolean } {
  const total = (texts: readonly string[]) => texts.reduce((sum, text) => sum + count(text), 0)
  const fits = ({ context, responses }: JudgeMaterial) => total([context, ...responses]) <= budget
  let fitted = material
  if (fits(fitted)) return { material: fitted, fits: true }
  for (const tier of tiers(budget - total(material.responses), 1)) {
    fitted = { ...fitted, context: tier(fitted.context) }
    if (fits(fitted)) return { material: fitted, fits: true }
  }
  for (const tier of tiers(budget - count(fitted.context), material.responses.length)) {
    fitted = { ...fitted, responses: fitted.responses.map(tier) }
    if (fits(fitted)) return { material: fitted, fits: true }
  }
  return { material: fitted, fits: false }
}

/** The three steps for `texts` texts that share `tokens` tokens. Whole tokens each: rounding must not add up to more. */
function tiers(tokens: number, texts: number): ((text: string) => string)[] {
  const limit = Math.max(minBytes, Math.floor(tokens / texts) * bytesPerToken)
  return [keepTail, keepEnds, (text) => keepStart(text, limit)]
}
