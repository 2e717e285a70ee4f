import { type RevertCategory, revertCategory } from '../contract/context/context-change.ts'
import type { JsonValue } from '../contract/json.ts'
import { type Content, content } from '../contract/message/content.ts'
import { type BlockProvenance, blockProvenance, type NodeTag, nodeTag } from '../contract/message/identity.ts'
import { type AgentMessage, agentMessage } from '../contract/message/message.ts'
import { type KnownApi, knownApi } from '../contract/model/model-config.ts'
import {
  type AnnotatedRequest,
  annotatedRequest,
  type CacheStrategy,
  cacheStrategy,
  type StreamDelta,
  streamDelta,
} from '../contract/model/request.ts'
import { type ResponseFormat, responseFormat } from '../contract/model/request-settings.ts'
import { type Usage, usage } from '../contract/model/usage.ts'
import {
  type ContinuationKind,
  continuationKind,
  type LoopConfigSnapshot,
  type TurnTrigger,
  turnTrigger,
} from '../contract/run/run-facts.ts'
import { type ExecutionLimits, type ToolExecutionStrategy, toolExecution } from '../contract/run/settings.ts'
import { parseStored } from '../contract/shape/read.ts'
import { aFlag, listOf, type ShapeOf } from '../contract/shape/shape.ts'
import { type ToolResult, toolResult } from '../contract/tool/tool-result.ts'
import { configSnapshot, executionLimits } from './tables/run.ts'
import { objectAt } from './values.ts'
import { readSpec, writeSpec } from './walk.ts'

/**
 * Converts a type between our spelling (camelCase) and the specification's JSON.
 *
 * **Contract**
 * - `decode(encode(value))` equals `value`. Keys that the other side does not know are preserved in both directions.
 * - `encode` leaves absent fields out, or writes `null`, exactly where the Rust implementation does.
 * - `decode` takes a parsed JSON value and throws `SessionError` `invalidMessages`, with the path, for what Rust would refuse too.
 */
export interface SpecCodec<T> {
  encode(value: T): JsonValue
  decode(json: unknown): T
}

/** Returns the codec of a shape. `name` begins the path in errors. */
function codec<T>(name: string, shape: ShapeOf<T>): SpecCodec<T> {
  return { encode: (value) => writeSpec(shape, value), decode: (json) => readSpec<ShapeOf<T>>(shape, json, name) as T }
}

/** `Content`: spelled the same on both sides. `providerState` and `invalidArguments` are keys that Rust ignores. */
export const contentCodec: SpecCodec<Content> = codec('content', content)

/**
 * `AgentMessage`: camelCase, except `error_message` and `usage`. Rust ignores `id` and `childLoopId`. A message without an `id` gets one.
 * Malformed extras (`turnId`, `nodeId`, `tags` …) are dropped, as Rust does. An unknown role throws.
 */
export const messageCodec: SpecCodec<AgentMessage> = codec('message', agentMessage)

/** `Usage`: snake_case keys. Only `input` and `output` are required. Older files lack the rest. */
export const usageCodec: SpecCodec<Usage> = codec<Usage>('usage', usage)

/** `NodeTag`: snake_case fields, node ids as bare integers. */
export const nodeTagCodec: SpecCodec<NodeTag> = codec('tag', nodeTag)

/** `RevertCategory`: kebab-case, such as `step-summary`. */
export const revertCategoryCodec: SpecCodec<RevertCategory> = codec('category', revertCategory)

/** `BlockProvenance`: kebab-case kinds and roles, snake_case fields. */
export const provenanceCodec: SpecCodec<BlockProvenance> = codec('provenance', blockProvenance)

/** `ToolResult`: `details` is always written, `null` if absent. Rust ignores `isError`. */
export const toolResultCodec: SpecCodec<ToolResult> = codec('result', toolResult)

/** `TurnTrigger`: PascalCase. `FollowUp`, which older files contain, is read as `continuation`. */
export const turnTriggerCodec: SpecCodec<TurnTrigger> = codec('trigger', turnTrigger)

/** `ContinuationKind`: a PascalCase word, or an object with the word as its only key if there is a tag. */
export const continuationCodec: SpecCodec<ContinuationKind> = codec('continuation', continuationKind)

/**
 * `StreamDelta`: an object with the PascalCase kind as its only key. Rust ignores `contentIndex`, `toolCallId` and `toolName`. If absent,
 * they are read as 0 and ''.
 */
export const streamDeltaCodec: SpecCodec<StreamDelta> = codec('delta', streamDelta)

/** Protocols that Rust knows: all that use a network. */
export type WireProtocol = KnownApi

/**
 * `ApiProtocol`: snake_case, with `open_ai` in two words. `scripted` has no spelling in Rust. Configuration files spell three protocols
 * differently (`openai_completions`). Rust rejects those spellings here.
 */
export const protocolCodec: SpecCodec<WireProtocol> = codec('api', knownApi)

/**
 * `LoopConfigSnapshot`: snake_case. `config_id` is `null` if absent. Rust may omit any other field, so reading returns a partial. Rust
 * could not read a file with any other protocol (`scripted`, or a custom one), so it is written as `nativeApi`, which Rust ignores.
 */
export const configSnapshotCodec: SpecCodec<Partial<LoopConfigSnapshot>> = codec('config', configSnapshot)

/** A request as Rust stores it, which does not include the provider. */
export type SpecRequest = Omit<AnnotatedRequest, 'provider' | 'api'> & Partial<Pick<AnnotatedRequest, 'provider' | 'api'>>

/**
 * `AnnotatedRequest` as Rust's `AnnotatedRequestPayload`: snake_case, messages without generated ids. Rust ignores `provider`, `api` and
 * `http`. Without them, reading returns a partial. An absent format is written, and read back, as `text`.
 *
 * Source: docs/migrate/rust.md
 */
export const annotatedRequestCodec: SpecCodec<SpecRequest> = {
  encode: (request) => writeSpec(annotatedRequest, request),
  decode: (json) => readSpec(annotatedRequest, json, 'payload'),
}

/** `ResponseFormat`: kebab-case `kind`. An absent `strict` is written, and read back, as `false`. */
export const responseFormatCodec: SpecCodec<ResponseFormat> = codec('response_format', responseFormat)

/** `ExecutionLimits`: `max_duration` in seconds and nanoseconds, `max_cost` `null` if absent. */
export const executionLimitsCodec: SpecCodec<ExecutionLimits> = codec<ExecutionLimits>('limits', executionLimits)

/** `ToolExecutionStrategy`: the same on both sides. */
export const toolExecutionStrategyCodec: SpecCodec<ToolExecutionStrategy> = codec('strategy', toolExecution)

/** Our `CacheStrategy` as Rust's `CacheConfig`. Its master switch `enabled: false` is read as `disabled`. */
export const cacheConfigCodec: SpecCodec<CacheStrategy> = {
  encode: (cache) => ({ enabled: true, strategy: writeSpec(cacheStrategy, cache) }),
  decode(json) {
    const { enabled = true, strategy = 'auto' } = objectAt(json, 'cache')
    const read = readSpec(cacheStrategy, strategy, 'cache.strategy')
    return readSpec(aFlag, enabled, 'cache.enabled') ? read : { type: 'disabled' }
  },
}

const history = listOf(agentMessage)

/**
 * Returns a history as the JSON text that the Rust implementation saves and restores. `fromSpecJson` reads it back without loss.
 * Source: docs/migrate/rust.md
 */
export function toSpecJson(messages: readonly AgentMessage[]): string {
  return JSON.stringify(writeSpec(history, messages))
}

/**
 * Parses a history that the Rust implementation (or `toSpecJson`) saved.
 *
 * **Contract**
 * - Throws `SessionError` `invalidMessages` with the path of the first error, such as `messages[3].usage.input: expected integer, got
 *   string`.
 * - Generates ids for messages without an id. Preserves unknown keys, and `toSpecJson` writes them back.
 */
export function fromSpecJson(text: string): AgentMessage[] {
  return readSpec(history, parseStored(text, 'messages'), 'messages')
}
