import { emptyUsage, type Usage } from '../../types/usage.ts'
import { tokenCount } from '../shared/token-count.ts'
import type { GeminiUsage } from './wire.ts'

/**
 * The token counts of a stream in the terms of `Usage`: cached tokens taken out of the prompt, thoughts added to the output. What tools
 * of the service read (no request of ours has any) is no prompt of the caller's: it is in the total alone.
 *
 * Each chunk reports totals, so the latest of each count wins; a chunk may report some of them, or none.
 * Source: reference/providers.md §5 "Usage".
 */
export class TokenCounts {
  /** One object for the whole stream; a message that fails still says what it cost. */
  readonly usage: Usage = emptyUsage()
  #prompt = 0
  #candidates = 0

  /** Takes the report of a chunk. */
  add(report: GeminiUsage): void {
    const { usage } = this
    this.#prompt = tokenCount(report.promptTokenCount, this.#prompt)
    this.#candidates = tokenCount(report.candidatesTokenCount, this.#candidates)
    usage.cacheRead = tokenCount(report.cachedContentTokenCount, usage.cacheRead)
    usage.reasoning = tokenCount(report.thoughtsTokenCount, usage.reasoning)
    usage.input = Math.max(0, this.#prompt - usage.cacheRead)
    usage.output = this.#candidates + usage.reasoning
    usage.totalTokens = tokenCount(report.totalTokenCount, usage.input + usage.output + usage.cacheRead)
  }
}
