import { parseArguments } from '../../base/json/call-arguments.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { WireBlock } from './wire.ts'

/** Blocks that mean nothing here and must go back: they are kept without a word. */
export const expectedKinds: ReadonlySet<string> = new Set(['mcp_tool_listing', 'fallback', 'compaction', 'container_upload'])

/** Deltas that say something to people, or ask for something, in whatever block they come. */
export const shownDeltas: ReadonlySet<string> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
  'citations_delta',
])

/** The block as it goes back: `raw` is its input, where that came bit by bit. */
export function keptBlock(block: WireBlock, raw: string | undefined): JsonObject {
  const input = raw === undefined ? undefined : parseArguments(raw)
  const whole = { ...block, ...(input !== undefined && input.fault === undefined && { input: input.arguments }) }
  return whole as JsonObject // off the wire, so it is JSON
}

/** The model that a `fallback` block says the response goes on with; `undefined` if it names none. */
export function fallbackModel(block: WireBlock): unknown {
  const { to }: { to?: unknown } = block as JsonObject // off the wire, so it is JSON
  return typeof to === 'string' ? to : Object(to).model
}
