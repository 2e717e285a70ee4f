import type { ProviderErrorCode } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Citation } from '../../contract/message/content.ts'
import type { StopReason } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { WholeBlock } from '../kit/decode/slots.ts'

/** A call the scripted model makes. Without an `id` it is `mock-tool-{i}`, `i` counting the calls of the whole history from 0. */
export interface ScriptedToolCall {
  id?: string
  name: string
  arguments: JsonObject
}

/** How a scripted call fails. Source: docs/guides/testing.md */
export interface ScriptedFailure {
  code: ProviderErrorCode
  message: string
  /** HTTP status. */
  status?: number
  /** How long the "service" asks to wait, in ms. */
  retryAfterMs?: number
  /** Fail after the step's thinking and text were streamed. Default: before any output. */
  afterText?: boolean
}

/**
 * One answer of the scripted model: thinking, then text, then whole blocks, then tool calls, as far as they are given.
 * Text given as a list is streamed in those pieces, a single string in pieces of `chunkSize`.
 */
export interface ScriptedStep {
  thinking?: string | readonly string[]
  text?: string | readonly string[]
  /** What the text rests on. */
  citations?: readonly Citation[]
  /** Blocks that come whole, after the text: pictures, files, tools of the service. One with the id of an earlier tool of the service takes its place. */
  blocks?: readonly WholeBlock[]
  toolCalls?: readonly ScriptedToolCall[]
  /** Default: `toolUse` with tool calls, else `stop`. */
  stopReason?: StopReason
  /** Missing fields are 0; a missing total is the sum. */
  usage?: Partial<Usage>
  /** Wait before each piece, in ms; overrides the model's. */
  delayMs?: number
  /** UTF-16 units per piece; overrides the model's. */
  chunkSize?: number
  fail?: ScriptedFailure
}

/**
 * What a scripted model says: a list that is worked off call by call and then fails, or a function that computes each answer from the request (with the
 * real tool results in `request.messages`). `turn` counts the calls of this model from 0; a failed call counts.
 */
export type Script = readonly ScriptedStep[] | ((request: StreamRequest, turn: number) => ScriptedStep | Promise<ScriptedStep>)
