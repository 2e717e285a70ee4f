import type { AgentMessage } from 'phi-core'
import { fromSpecJson, toSpecJson } from 'phi-core/rust'

/** Reads a history that the Rust implementation saved, and writes it so that it can be read there again. */
export function throughRust(saved: string): { messages: AgentMessage[]; json: string } {
  const messages = fromSpecJson(saved)
  return { messages, json: toSpecJson(messages) }
}
