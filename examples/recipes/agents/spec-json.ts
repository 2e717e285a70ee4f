import type { AgentMessage } from 'phi-core'
import { fromSpecJson, toSpecJson } from 'phi-core/rust'

/** Reads a history that the Rust crate saved, and writes it in the same format. */
export function throughRust(saved: string): { messages: AgentMessage[]; json: string } {
  const messages = fromSpecJson(saved)
  return { messages, json: toSpecJson(messages) }
}
