import type { JsonSchema } from '../json.ts'

/** Prompt caching. Source: docs/concepts/prompt-caching.md */
export type CacheStrategy =
  | { type: 'auto' }
  | { type: 'disabled' }
  | { type: 'manual'; cacheSystem: boolean; cacheTools: boolean; cacheMessages: boolean }

/**
 * What form an answer must have. Services that cannot promise a schema get a tool that only takes the answer, and are made to call it.
 */
export type ResponseFormat =
  | { type: 'text' }
  | { type: 'jsonObject' }
  | { type: 'jsonSchema'; name: string; schema: JsonSchema; strict?: boolean }

/** The tool that takes an answer where the service itself cannot be held to a form. */
export const answerToolName = 'respond_json'

/** A tool as the model sees it. */
export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments, an object at its root. */
  parameters: JsonSchema
}

/** One increment of a block. `contentIndex` is the block's position in the finished message. */
export type StreamDelta =
  | { type: 'text'; contentIndex: number; delta: string }
  | { type: 'thinking'; contentIndex: number; delta: string }
  | { type: 'toolCallDelta'; contentIndex: number; toolCallId: string; toolName: string; delta: string }
