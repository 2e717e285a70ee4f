/**
 * The specification's JSON, as the Rust implementation of phi-core writes and reads it. Needs zod 4, an optional peer dependency.
 *
 * @example
 * ```ts
 * import { fromSpecJson, toSpecJson } from 'phi-core/rust'
 *
 * const agent = new Agent({ model, messages: fromSpecJson(saved) })
 * const forRust = toSpecJson(agent.messages)
 * ```
 */
export type { SpecCodec } from './codec.ts'
export { contentCodec } from './content.ts'
export { fromSpecJson, toSpecJson } from './conversation.ts'
export { type EventDefaults, eventFromSpec } from './event/event-from-spec.ts'
export { eventToSpec } from './event/event-to-spec.ts'
export { continuationCodec, streamDeltaCodec, turnTriggerCodec } from './loop-words.ts'
export { messageCodec } from './message.ts'
export { nodeTagCodec, revertCategoryCodec } from './node-tag.ts'
export { protocolCodec, type WireProtocol } from './protocol.ts'
export { provenanceCodec } from './provenance.ts'
export { EventRecorder, type EventRecorderOptions } from './recorder/event-recorder.ts'
export { annotatedRequestCodec, responseFormatCodec, type SpecRequest } from './request.ts'
export { type LedgerStatus, toLedgerStatus } from './session/loop-status.ts'
export { sessionFromSpec, sessionFromSpecJson, sessionToSpec, sessionToSpecJson } from './session/session.ts'
export { cacheConfigCodec, executionLimitsCodec, toolExecutionStrategyCodec } from './settings.ts'
export { configSnapshotCodec } from './snapshot.ts'
export { toolResultCodec } from './tool-result.ts'
export { usageCodec } from './usage.ts'
