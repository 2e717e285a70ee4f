import type { ProviderErrorCode } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Citation } from '../../contract/message/content.ts'
import type { StopReason } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { WholeBlock } from '../kit/decode/slots.ts'

/** A call by the scripted model. Default `id`: `mock-tool-{i}`, where `i` counts all calls in the history from 0. */
export interface ScriptedToolCall {
  id?: string
  name: string
  arguments: JsonObject
}

/** Error of a scripted model call. Source: docs/guides/testing.md */
export interface ScriptedFailure {
  code: ProviderErrorCode
  message: string
  /** HTTP status. */
  status?: number
  /** Requested retry delay in milliseconds. */
  retryAfterMs?: number
  /** Whether to fail after the step's thinking and text. Default: false, which fails before any output. */
  afterText?: boolean
}

/**
 * One response of the scripted model: thinking, text, whole blocks, then tool calls. A text list is streamed in those chunks, a string in
 * chunks of `chunkSize`.
 */
export interface ScriptedStep {
  thinking?: string | readonly string[]
  text?: string | readonly string[]
  /** The text's citations. */
  citations?: readonly Citation[]
  /** Complete blocks after the text: images, files, provider-executed tools. A tool replaces an earlier tool with the same id. */
  blocks?: readonly WholeBlock[]
  toolCalls?: readonly ScriptedToolCall[]
  /** Default: `toolUse` with tool calls, otherwise `stop`. */
  stopReason?: StopReason
  /** Missing counts are 0. A missing total is the sum. */
  usage?: Partial<Usage>
  /** Milliseconds before each chunk. Overrides the model's. */
  delayMs?: number
  /** UTF-16 units per chunk. Overrides the model's. */
  chunkSize?: number
  fail?: ScriptedFailure
}

/**
 * Responses of a scripted model: a list with one response per call, or a function of the request. `request.messages` contains real tool
 * results. `turn` counts this model's calls from 0, including failed ones.
 */
export type Script = readonly ScriptedStep[] | ((request: StreamRequest, turn: number) => ScriptedStep | Promise<ScriptedStep>)
