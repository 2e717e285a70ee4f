import { parsedJson } from '../../base/json/json-value.ts'
import { PhiError } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { ReadMessages } from './sent-messages.ts'

/** Decodes the frames of one connection, in order. */
export interface EventDecoder {
  /**
   * Decodes a frame. `data` is the frame's JSON. `id` is its cursor, if the transport sends one.
   *
   * Throws `PhiError` `brokenStream` if the frame is not an event, or refers to a missing frame because a proxy lost or repeated data.
   * Reconnect after the cursor of the last event. The first frame of a connection is complete, so the decoder can be reused.
   */
  decode(data: string, id?: string): AgentEvent
}

/**
 * Creates a decoder that restores the complete events from frames of `eventEncoder`.
 *
 * **Contract**
 * - Passes through unknown event types from newer servers.
 * - Stores the previous event and the active loop's messages until `agentEnd`, and the same for each running call.
 * - Does not accept `event: error` and `event: sharedState` frames: check the `event` field first.
 */
export function eventDecoder(): EventDecoder {
  return new LeanDecoder()
}

type Frame = Record<string, unknown>

/** A frame as transmitted. `["text", ms]` is a short form for continued text. */
type Written = Frame | unknown[]

class LeanDecoder implements EventDecoder {
  #before: AgentEvent | undefined
  readonly #messages = new ReadMessages(broken)
  readonly #children = new Map<string, LeanDecoder>()

  decode(data: string, id?: string): AgentEvent {
    return this.#restore(parsed(data), id)
  }

  #restore(written: Written, id: string | undefined): AgentEvent {
    const event = this.#event(Array.isArray(written) ? this.#goingOn(written) : written)
    if (id !== undefined && id !== '' && id !== String(event.seq)) {
      throw broken(`frame ${id} does not follow event ${this.#before?.seq ?? 'none'}`)
    }
    this.#before = event
    if (event.type === 'toolExecutionEnd') this.#children.delete(event.toolCallId)
    return event
  }

  #event(frame: Frame): AgentEvent {
    const whole = this.#messages.restore('runId' in frame ? frame : this.#filled(frame))
    if (!isEvent(whole)) throw broken('a frame is not an event')
    if (whole.type === 'messageUpdate' && !isPlace(whole.delta)) throw broken('a delta has an invalid contentIndex')
    return whole.type === 'childEvent' ? { ...whole, event: this.#child(whole.toolCallId, whole.event) } : whole
  }

  #goingOn([words, afterMs = 0, ...more]: unknown[]): Frame {
    if (typeof words !== 'string' || typeof afterMs !== 'number' || more.length > 0) throw broken('a frame is not an event')
    return { at: (this.#before?.at ?? 0) + afterMs, delta: { delta: words } }
  }

  #filled(frame: Frame): Frame {
    const before = this.#before
    if (before === undefined) throw broken('the first frame is incomplete')
    const { runId, sessionId, loopId, at } = before
    const filled: Frame = { runId, sessionId, loopId, at, seq: before.seq + 1, ...frame }
    if ('fromSeq' in frame && frame.fromSeq !== before.seq + 1) throw broken(`events ${before.seq + 1} to ${frame.fromSeq} are missing`)
    if ('type' in frame) return filled
    if (before.type !== 'messageUpdate') throw broken('a delta does not follow an update')
    const { type, messageId } = before
    const delta: object = Object(frame.delta)
    return { ...filled, type, messageId, delta: 'type' in delta ? delta : { ...before.delta, ...delta } }
  }

  #child(toolCallId: string, frame: unknown): AgentEvent {
    const child = this.#children.get(toolCallId) ?? new LeanDecoder()
    this.#children.set(toolCallId, child)
    return child.#restore(isObject(frame) || Array.isArray(frame) ? frame : {}, undefined)
  }
}

function parsed(data: string): Written {
  const value = parsedJson(data)
  if (value === undefined) throw broken('a frame is not JSON')
  if (!isObject(value) && !Array.isArray(value)) throw broken('a frame is not an object')
  return value
}

/** Checks the common fields only, so that unknown event types from newer servers pass through. */
function isEvent(frame: Frame): frame is Frame & AgentEvent {
  const { type, runId, sessionId, loopId, seq, at } = frame
  return [type, runId, sessionId, loopId].every((value) => typeof value === 'string') && typeof seq === 'number' && typeof at === 'number'
}

/** Maximum blocks per message, because adding a delta allocates all earlier blocks. */
const maxBlocks = 100_000

function isPlace(delta: unknown): boolean {
  const { contentIndex }: { contentIndex?: unknown } = Object(delta)
  return typeof contentIndex === 'number' && Number.isInteger(contentIndex) && contentIndex >= 0 && contentIndex < maxBlocks
}

function broken(what: string): PhiError {
  return new PhiError('brokenStream', `The event stream is broken: ${what}. Reconnect after the last event you read.`)
}
