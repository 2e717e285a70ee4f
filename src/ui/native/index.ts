/**
 * Our own events on a wire: lean frames that leave out what equals the event before, and the way back. Pure, in any runtime.
 *
 * ```ts
 * const encoder = eventEncoder()
 * for await (const event of run) write(encoder.sse(event))
 * ```
 *
 * @module
 */
export type { ShownEvents } from '../shared/encoding.ts'
export { type EventDecoder, eventDecoder } from './event-decoder.ts'
export { type EventEncoder, eventEncoder } from './event-encoder.ts'
