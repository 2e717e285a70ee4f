import type { ProviderErrorCode } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Citation } from '../../contract/message/content.ts'
import type { StopReason } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { WholeBlock } from '../kit/decode/slots.ts'

/** A call of the scripted model. Default `id`: `mock-tool-{i}`, where `i` counts all calls of the history from 0. */
export interface ScriptedToolCall {
  id?: string
  name: string
  arguments: JsonObject
}

/** Error of a scripted call. Source: docs/guides/testing.md */
export interface ScriptedFailure {
  code: ProviderErrorCode
  message: string
  /** HTTP status. */
  status?: number
  /** Requested retry delay in milliseconds. */
  retryAfterMs?: number
  /** Fails after the thinking and text of the step. Default: before any output. */
  afterText?: boolean
}

/**
 * One response of the scripted model: thinking, text, whole blocks, then tool calls. A text list is streamed in those chunks, a string in
 * chunks of `chunkSize`.
 */
export interface ScriptedStep {
  thinking?: string | readonly string[]
  text?: string | readonly string[]
  /** Citations of the text. */
  citations?: readonly Citation[]
  /** Whole blocks after the text: images, files, provider-executed tools. A tool with the id of an earlier one replaces it. */
  blocks?: readonly WholeBlock[]
  toolCalls?: readonly ScriptedToolCall[]
  /** Default: `toolUse` with tool calls, else `stop`. */
  stopReason?: StopReason
  /** Missing counts are 0; a missing total is the sum. */
  usage?: Partial<Usage>
  /** Milliseconds before each chunk; overrides the model's. */
  delayMs?: number
  /** UTF-16 units per chunk; overrides the model's. */
  chunkSize?: number
  fail?: ScriptedFailure
}

/**
 * Responses of a scripted model: a list, used call by call until it ends, or a function of the request, with real tool results in
 * `request.messages`. `turn` counts the calls of this model from 0, including failed ones.
 */
export type Script = readonly ScriptedStep[] | ((request: StreamRequest, turn: number) => ScriptedStep | Promise<ScriptedStep>)
