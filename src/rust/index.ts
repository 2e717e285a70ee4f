/**
 * The specification's JSON, as the Rust implementation of phi-core writes and reads it.
 *
 * @example
 * ```ts
 * import { fromSpecJson, toSpecJson } from 'phi-core/rust'
 *
 * const agent = new Agent({ model, messages: fromSpecJson(saved) })
 * const forRust = toSpecJson(agent.messages)
 * ```
 */
export {
  annotatedRequestCodec,
  cacheConfigCodec,
  configSnapshotCodec,
  contentCodec,
  continuationCodec,
  executionLimitsCodec,
  fromSpecJson,
  messageCodec,
  nodeTagCodec,
  protocolCodec,
  provenanceCodec,
  responseFormatCodec,
  revertCategoryCodec,
  type SpecCodec,
  type SpecRequest,
  streamDeltaCodec,
  toolExecutionStrategyCodec,
  toolResultCodec,
  toSpecJson,
  turnTriggerCodec,
  usageCodec,
  type WireProtocol,
} from './codecs.ts'
export { type EventDefaults, eventFromSpec, eventToSpec } from './event.ts'
export { type SpecLoss, specLosses } from './losses.ts'
export { EventRecorder, type EventRecorderOptions } from './recorder/event-recorder.ts'
export { sessionFromSpec, sessionFromSpecJson, sessionToSpec, sessionToSpecJson } from './session/session.ts'
export { type LedgerStatus, toLedgerStatus } from './tables/session.ts'
