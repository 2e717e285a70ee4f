import type { Message } from '../message/message.ts'
import type { BlockProvenance } from '../message/provenance.ts'
import type { ApiProtocol, ThinkingLevel } from '../model/model-config.ts'
import type { ResponseFormat, ToolDefinition } from '../model/request.ts'

/** Exactly what a provider was given for one turn, and where each message came from. Source: docs/concepts/request-capture.md */
export interface AnnotatedRequest {
  systemPrompt: string
  messages: readonly Message[]
  /** As long as `messages`; `unknown` where a custom `convertToLlm` made messages of its own. */
  provenance: readonly BlockProvenance[]
  tools: readonly ToolDefinition[]
  modelId: string
  provider: string
  api: ApiProtocol
  thinkingLevel: ThinkingLevel
  maxTokens?: number
  temperature?: number
  /** Default: text. */
  responseFormat?: ResponseFormat
  /** Only where `captureTurnRequests` asks for it. */
  http?: CapturedHttp
}

/** The HTTP request of a turn as it goes out, every secret replaced. */
export interface CapturedHttp {
  url: string
  headers: Record<string, string>
  body: string
}
