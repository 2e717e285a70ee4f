import { parsedJson } from '../../base/json/json-value.ts'
import { PhiError } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { ReadMessages } from './sent-messages.ts'

/** Decodes the frames of one connection, in order. */
export interface EventDecoder {
  /**
   * Returns the event of a frame. `data` is its JSON, `id` the cursor next to it, if the transport has one.
   *
   * Throws `PhiError` `brokenStream` if the frame is no event, or refers to a frame that is missing: a proxy has lost or repeated
   * data. Reconnect after the cursor of the last event; the first frame of a connection is complete, so the same decoder works.
   */
  decode(data: string, id?: string): AgentEvent
}

/**
 * Creates a decoder that restores the events of `eventEncoder` with all their fields.
 *
 * **Contract**
 * - Passes unknown types of a newer server through.
 * - Keeps the event before and the messages of the active loop until its `agentEnd`, and the same for each active call.
 * - The frames `event: error` and `event: sharedState` are no events: check the field `event` first.
 */
export function eventDecoder(): EventDecoder {
  return new LeanDecoder()
}

type Frame = Record<string, unknown>

/** A frame as written: `["text", ms]` is short for continued text. */
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
    if (!isEvent(whole)) throw broken('a frame is no event')
    if (whole.type === 'messageUpdate' && !isPlace(whole.delta)) throw broken('a delta is for no place in a message')
    return whole.type === 'childEvent' ? { ...whole, event: this.#child(whole.toolCallId, whole.event) } : whole
  }

  #goingOn([words, afterMs = 0, ...more]: unknown[]): Frame {
    if (typeof words !== 'string' || typeof afterMs !== 'number' || more.length > 0) throw broken('a frame is no event')
    return { at: (this.#before?.at ?? 0) + afterMs, delta: { delta: words } }
  }

  #filled(frame: Frame): Frame {
    const before = this.#before
    if (before === undefined) throw broken('the first frame is not whole')
    const { runId, sessionId, loopId, at } = before
    const filled: Frame = { runId, sessionId, loopId, at, seq: before.seq + 1, ...frame }
    if ('fromSeq' in frame && frame.fromSeq !== before.seq + 1) throw broken(`events ${before.seq + 1} to ${frame.fromSeq} are missing`)
    if ('type' in frame) return filled
    if (before.type !== 'messageUpdate') throw broken('a delta rests on an event that is none')
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
  if (value === undefined) throw broken('a frame is no JSON')
  if (!isObject(value) && !Array.isArray(value)) throw broken('a frame is no JSON object')
  return value
}

/** Cast: the type decides later; an unknown type of a newer server passes unchanged. */
function isEvent(frame: Frame): frame is Frame & AgentEvent {
  const { type, runId, sessionId, loopId, seq, at } = frame
  return [type, runId, sessionId, loopId].every((value) => typeof value === 'string') && typeof seq === 'number' && typeof at === 'number'
}

/** Blocks of one message that there may be: who adds a delta makes room for those before it. */
const maxBlocks = 100_000

function isPlace(delta: unknown): boolean {
  const { contentIndex }: { contentIndex?: unknown } = Object(delta)
  return typeof contentIndex === 'number' && Number.isInteger(contentIndex) && contentIndex >= 0 && contentIndex < maxBlocks
}

function broken(what: string): PhiError {
  return new PhiError('brokenStream', `The stream of events is broken: ${what}. Connect again after the last event that was read.`)
}
