import * as z from 'zod'
import type { AgentMessage } from '../contract/message/message.ts'
import { parseStored } from '../contract/shape/read.ts'
import { readSpec } from './codec.ts'
import { messageCodec, messageSchema } from './message.ts'

const conversation = z.array(messageSchema)

/**
 * A history as the JSON text that the Rust implementation saves and restores. `fromSpecJson` reads it back without loss.
 * Source: docs/coming-from-rust.md
 */
export function toSpecJson(messages: readonly AgentMessage[]): string {
  return JSON.stringify(messages.map(messageCodec.encode))
}

/**
 * Reads a history that the Rust implementation (or `toSpecJson`) saved.
 *
 * **Contract**
 * - Throws `SessionError` `invalidMessages` with the path of the first thing wrong, such as
 *   `messages[3].usage.input: expected integer, got string`.
 * - Messages without an id get new ones; keys nobody knows are kept and written back by `toSpecJson`.
 */
export function fromSpecJson(text: string): AgentMessage[] {
  return readSpec(conversation, parseStored(text, 'messages'), 'messages')
}
