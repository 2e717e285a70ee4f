import type { CompactionOverlay } from '../../contract/context/context-change.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AnnotatedRequest } from '../../contract/model/request.ts'
import { type LoopRecord, loopRecord, type Turn } from '../../contract/session/session.ts'
import { aText } from '../../contract/shape/shape.ts'
import type { SpecRequest } from '../codecs.ts'
import { compactionBlock } from '../tables/session.ts'
import { objectAt } from '../values.ts'
import { readSpec, writeSpec } from '../walk.ts'
import { blockOfOverlay, blockOverlayId, overlayOfBlock } from './compaction-block.ts'
import { eventsFromSpec, eventsToSpec, rawEvents } from './loop-events.ts'
import { MessageIds, withoutMadeUpId } from './message-ids.ts'

/** Reads a loop at `path`. Throws `SessionError` with the error's path. */
export function loopFromSpec(json: unknown, path: string): LoopRecord {
  const raw = objectAt(json, path)
  const ids = new MessageIds(readSpec(aText, raw.loop_id, `${path}.loop_id`), raw.messages)
  const { events, compaction_block: block = null, ...rest } = withMessages(raw, ids)
  const loop = readSpec(loopRecord, { ...rest, events: [] }, path)
  const found = readSpec(rawEvents, events, `${path}.events`)
  const whole: LoopRecord = {
    ...loop,
    turns: loop.turns.map((turn) => withService(turn, loop.config)),
    ...overlayOf(block, loop, `${path}.compaction_block`),
  }
  return { ...whole, events: eventsFromSpec(found, whole, ids, `${path}.events`) }
}

/** Transforms a loop's messages: `history` for its `messages`, `anywhere` for those in turns and in the compaction block. */
interface MessageChange {
  history(messages: unknown): unknown
  anywhere(value: unknown): unknown
}

/** Returns Rust's JSON of a loop with changed messages, without validation. */
function withMessages(raw: JsonObject, change: MessageChange): JsonObject {
  const { messages, turns, compaction_block: block } = raw
  const inside = (value: JsonValue, keys: readonly string[]): object | JsonValue =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, keys.includes(key) ? change.anywhere(part) : part]))
      : value
  const sections = (all: JsonObject) =>
    Object.fromEntries(Object.entries(all).map(([key, part]) => [key, key.startsWith('keep_') ? inside(part, ['messages']) : part]))
  return {
    ...raw,
    messages: change.history(messages),
    ...(Array.isArray(turns) && { turns: turns.map((turn) => inside(turn, ['input_messages', 'output_message', 'tool_results'])) }),
    ...(isJsonObject(block) && { compaction_block: sections(block) }),
  } as JsonObject // A change keeps JSON as JSON.
}

/**
 * Returns the overlay for the compaction block in `json`, and the block itself, so that it can be written back unchanged. Returns nothing
 * if `loop` already has an overlay.
 */
function overlayOf(json: JsonValue, loop: LoopRecord, path: string): { overlay?: CompactionOverlay; specBlock?: JsonValue } {
  if (json === null) return {}
  const block = readSpec(compactionBlock, json, path)
  if (loop.overlay !== undefined) return {}
  const overlay = overlayOfBlock(block, loop)
  const written = objectAt(writeSpec(compactionBlock, block), path)
  const { compaction_block: specBlock } = withMessages({ messages: [], compaction_block: written }, withoutIds(loop.loopId))
  return { ...(overlay && { overlay }), ...(specBlock !== undefined && { specBlock }) }
}

/** Removes ids that reading generated. */
function withoutIds(loopId: string): MessageChange {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip)
    return isJsonObject(value) ? withoutMadeUpId(value, loopId) : value
  }
  return { history: strip, anywhere: strip }
}

/** Data of the session for writing a loop. */
export interface LoopContext {
  message: (id: string) => AgentMessage | undefined
  /** Returns the response with a call that this loop or an ancestor has answered. */
  callerOf: (loopId: string, toolCallId: string) => AgentMessage | undefined
}

/** Returns Rust's JSON of a loop. */
export function loopToSpec(loop: LoopRecord, { message, callerOf }: LoopContext): JsonObject {
  const { overlay, ...rest } = loop
  const turns = loop.turns.flatMap((turn) => toWrite(turn, loop.config, (id) => callerOf(loop.loopId, id)))
  const spec = objectAt(writeSpec(loopRecord, { ...rest, turns, events: [] }), 'loop')
  const whole = { ...spec, events: eventsToSpec(loop.events, message) }
  const ids = withoutIds(loop.loopId)
  if (overlay === undefined || overlay.id === blockOverlayId(loop.loopId)) {
    const read: JsonValue | undefined = Reflect.get(loop, 'specBlock')
    return { ...withMessages(whole, ids), ...(read !== undefined && { compaction_block: read }) }
  }
  const block = blockOfOverlay(overlay, loop)
  const own: JsonObject = JSON.parse(JSON.stringify({ overlay }))
  return withMessages({ ...whole, ...own, ...(block && { compaction_block: writeSpec(compactionBlock, block) }) }, ids)
}

/** Returns the turn to write, or `undefined` without a usable response, because Rust may then refuse the whole file. */
function toWrite(turn: Turn, config: LoopRecord['config'], callerOf: (toolCallId: string) => AgentMessage | undefined): object[] {
  const { toolResults, requestPayload } = turn
  const [result] = toolResults
  const outputMessage = turn.outputMessage ?? (result?.role === 'toolResult' ? callerOf(result.toolCallId) : undefined)
  if (outputMessage === undefined) return []
  return [{ ...turn, outputMessage, ...(requestPayload && { requestPayload: withoutService(requestPayload, config) }) }]
}

/** Returns the provider of a loop, which Rust's captured requests lack. */
function serviceOf({ provider = '', api = 'openAiCompletions' }: LoopRecord['config'] = {}): Pick<AnnotatedRequest, 'provider' | 'api'> {
  return { provider, api }
}

/** Adds the provider to a turn's request. */
function withService(turn: Turn, config: LoopRecord['config']): Turn {
  const { requestPayload } = turn
  return requestPayload === undefined ? turn : { ...turn, requestPayload: { ...serviceOf(config), ...requestPayload } }
}

/** Removes the provider from a request if the loop's configuration has the same. */
function withoutService(request: AnnotatedRequest, config: LoopRecord['config']): SpecRequest {
  const { provider, api, ...rest } = request
  const service = serviceOf(config)
  return provider === service.provider && api === service.api ? rest : request
}
