/** The fields of a chunk of `streamGenerateContent` that are read; each is looked at before use. */
export interface GeminiChunk {
  candidates?: GeminiCandidate[] | null
  usageMetadata?: GeminiUsage | null
  promptFeedback?: { blockReason?: string | null } | null
  error?: unknown
}

/** One alternative answer; only the first is read. */
export interface GeminiCandidate {
  content?: { parts?: (GeminiPart | null)[] | null } | null
  finishReason?: string | null
  /** What the service says about its reason. */
  finishMessage?: string | null
}

/** A piece of the answer. Code that the service runs itself, and media, have fields of their own and are passed over. */
export interface GeminiPart {
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
  partialArgs?: unknown
  willContinue?: boolean | null
}

/** Token counts so far; a count of zero is left out. */
export interface GeminiUsage {
  promptTokenCount?: number | null
  cachedContentTokenCount?: number | null
  candidatesTokenCount?: number | null
  thoughtsTokenCount?: number | null
  totalTokenCount?: number | null
}
