/**
 * Reads and writes the JSON of the Rust implementation of phi-core.
 *
 * @example
 * ```ts
 * import { fromSpecJson, toSpecJson } from 'phi-core/rust'
 *
 * const agent = new Agent({ model, messages: fromSpecJson(saved) })
 * const forRust = toSpecJson(agent.messages)
 * ```
 */
export { contentCodec, fromSpecJson, messageCodec, type SpecCodec, toolResultCodec, toSpecJson, usageCodec } from './rust/codecs.ts'
export { eventFromSpec, eventToSpec } from './rust/event.ts'
export { type SpecLoss, specLosses } from './rust/losses.ts'
export { EventRecorder } from './rust/recorder/event-recorder.ts'
export { sessionFromSpec, sessionFromSpecJson, sessionToSpec, sessionToSpecJson } from './rust/session/session.ts'
export { type LedgerStatus, toLedgerStatus } from './rust/tables/session.ts'
