import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import { laterCount, tokenCount } from '../kit/decode/decoder.ts'
import type { PartialArgument } from './decode/partial-arguments.ts'

/** The fields of a chunk of `streamGenerateContent` that are read; each is looked at before use. */
export interface GeminiChunk {
  candidates?: (GeminiCandidate | null)[] | null
  usageMetadata?: GeminiUsage | null
  promptFeedback?: { blockReason?: string | null; blockReasonMessage?: string | null } | null
  error?: unknown
  responseId?: string | null
  modelVersion?: string | null
}

/** One alternative answer; only the first is read. */
export interface GeminiCandidate {
  index?: number | null
  content?: { parts?: (GeminiPart | null)[] | null } | null
  finishReason?: string | null
  /** What the service says about its reason. */
  finishMessage?: string | null
  groundingMetadata?: GroundingMetadata | null
  urlContextMetadata?: { urlMetadata?: ({ retrievedUrl?: unknown; urlRetrievalStatus?: unknown } | null)[] | null } | null
  citationMetadata?: { citations?: (object | null)[] | null } | null
  logprobsResult?: { chosenCandidates?: unknown; topCandidates?: unknown } | null
  /** With the reason CONTINUATION: what goes on with the answer. */
  continuationToken?: unknown
}

/** What an answer rests on. */
export interface GroundingMetadata {
  [beside: string]: unknown
  webSearchQueries?: unknown[] | null
  groundingChunks?: (object | null)[] | null
  groundingSupports?: ({ segment?: object | null; groundingChunkIndices?: unknown[] | null } | null)[] | null
}

/** A piece of the answer: one of these, or something newer. */
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

/** A call, whole or (Vertex, on request) argument by argument. */
export interface GeminiCall {
  id?: string | null
  name?: string | null
  args?: unknown
  partialArgs?: readonly (PartialArgument | null)[] | null
  willContinue?: boolean | null
}

/** Token counts so far; a count of zero is left out. */
export interface GeminiUsage {
  promptTokenCount?: number | null
  cachedContentTokenCount?: number | null
  candidatesTokenCount?: number | null
  thoughtsTokenCount?: number | null
  toolUsePromptTokenCount?: number | null
  totalTokenCount?: number | null
  /** How the service served the call: of the Gemini API, of Vertex AI. */
  serviceTier?: unknown
  trafficType?: unknown
}

/**
 * The token counts of a stream in the terms of `Usage`: cached tokens taken out of the prompt, thoughts added to the output. What tools
 * of the service read (no request of ours has any) is no prompt of the caller's: it is in the total alone.
 *
 * Each chunk reports totals, so the latest of each count wins; a chunk may report some of them, or none. A zero erases no count.
 * Source: docs/providers/google.md
 */
export class TokenCounts {
  /** One object for the whole stream; a message that fails still says what it cost. */
  readonly usage: Usage = emptyUsage()
  #prompt = 0
  #candidates = 0
  #toolUse = 0

  /** Takes the report of a chunk. */
  add(report: GeminiUsage): void {
    const { usage } = this
    this.#prompt = laterCount(report.promptTokenCount, this.#prompt)
    this.#candidates = laterCount(report.candidatesTokenCount, this.#candidates)
    usage.cacheRead = laterCount(report.cachedContentTokenCount, usage.cacheRead)
    usage.reasoning = laterCount(report.thoughtsTokenCount, usage.reasoning)
    this.#toolUse = laterCount(report.toolUsePromptTokenCount, this.#toolUse)
    // Where the prompt is smaller than what was cached of it, it was counted without them.
    const isWithout = this.#prompt <= usage.cacheRead
    usage.input = Math.max(0, this.#prompt + (isWithout ? this.#toolUse : 0) - usage.cacheRead)
    usage.output = this.#candidates + usage.reasoning
    usage.totalTokens = Math.max(tokenCount(report.totalTokenCount), usage.input + usage.output + usage.cacheRead)
  }
}
