import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import { laterCount, tokenCount } from '../kit/decode/decoder.ts'
import type { PartialArgument } from './decode/partial-arguments.ts'

/** Fields of a `streamGenerateContent` chunk that are read; each is validated before use. */
export interface GeminiChunk {
  candidates?: (GeminiCandidate | null)[] | null
  usageMetadata?: GeminiUsage | null
  promptFeedback?: { blockReason?: string | null; blockReasonMessage?: string | null } | null
  error?: unknown
  responseId?: string | null
  modelVersion?: string | null
}

/** A candidate. Only the first candidate is read. */
export interface GeminiCandidate {
  index?: number | null
  content?: { parts?: (GeminiPart | null)[] | null } | null
  finishReason?: string | null
  /** Explanation of the finish reason. */
  finishMessage?: string | null
  groundingMetadata?: GroundingMetadata | null
  urlContextMetadata?: { urlMetadata?: ({ retrievedUrl?: unknown; urlRetrievalStatus?: unknown } | null)[] | null } | null
  citationMetadata?: { citations?: (object | null)[] | null } | null
  logprobsResult?: { chosenCandidates?: unknown; topCandidates?: unknown } | null
  /** Token that continues the response, sent with finish reason CONTINUATION. */
  continuationToken?: unknown
}

/** A response's sources. */
export interface GroundingMetadata {
  [name: string]: unknown
  webSearchQueries?: unknown[] | null
  groundingChunks?: (object | null)[] | null
  groundingSupports?: ({ segment?: object | null; groundingChunkIndices?: unknown[] | null } | null)[] | null
}

/** A part of a response. Contains one of these fields, or a newer kind of content. */
export interface GeminiPart {
  inlineData?: unknown
  fileData?: unknown
  executableCode?: unknown
  codeExecutionResult?: unknown
  toolCall?: unknown
  toolResponse?: unknown
  text?: string | null
  thought?: boolean | null
  thoughtSignature?: string | null
  functionCall?: GeminiCall | null
}

/** A call, complete or, on Vertex AI, with arguments streamed individually. */
export interface GeminiCall {
  id?: string | null
  name?: string | null
  args?: unknown
  partialArgs?: readonly (PartialArgument | null)[] | null
  willContinue?: boolean | null
}

/** Token counts so far. Zero counts are omitted. */
export interface GeminiUsage {
  promptTokenCount?: number | null
  cachedContentTokenCount?: number | null
  candidatesTokenCount?: number | null
  thoughtsTokenCount?: number | null
  toolUsePromptTokenCount?: number | null
  totalTokenCount?: number | null
  /** Service tier, on the Gemini API and on Vertex AI. */
  serviceTier?: unknown
  trafficType?: unknown
}

/**
 * Accumulates a stream's token counts as `Usage`. Subtracts cached tokens from the prompt, and adds thinking tokens to the output. Input
 * of provider-executed tools counts only in the total.
 *
 * Chunks report totals, so the latest value of each count wins. A chunk may omit counts. Ignores zeros.
 * Source: docs/providers/google.md
 */
export class TokenCounts {
  /** The same object for the whole stream, so that a failed message also has its usage. */
  readonly usage: Usage = emptyUsage()
  #prompt = 0
  #candidates = 0
  #toolUse = 0

  /** Adds a chunk's report. */
  add(report: GeminiUsage): void {
    const { usage } = this
    this.#prompt = laterCount(report.promptTokenCount, this.#prompt)
    this.#candidates = laterCount(report.candidatesTokenCount, this.#candidates)
    usage.cacheRead = laterCount(report.cachedContentTokenCount, usage.cacheRead)
    usage.reasoning = laterCount(report.thoughtsTokenCount, usage.reasoning)
    this.#toolUse = laterCount(report.toolUsePromptTokenCount, this.#toolUse)
    // A prompt count that is smaller than the cached count excludes the cached tokens.
    const isWithout = this.#prompt <= usage.cacheRead
    usage.input = Math.max(0, this.#prompt + (isWithout ? this.#toolUse : 0) - usage.cacheRead)
    usage.output = this.#candidates + usage.reasoning
    usage.totalTokens = Math.max(tokenCount(report.totalTokenCount), usage.input + usage.output + usage.cacheRead)
  }
}
