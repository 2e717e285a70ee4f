import type { StreamDelta } from '../../contract/model/request.ts'
import type { AgentEvent, MessageUpdateEvent } from '../../contract/run/event.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, options as optionsOf } from '../../contract/shape/shape.ts'
import { asEmitted, isWithheld, type ShownEvents } from '../shared/encoding.ts'
import { SentMessages } from './sent-messages.ts'

/** Encodes the events of one connection, in order. */
export interface EventEncoder {
  /**
   * Returns the JSON of `event` without fields equal to those of the previous event; empty for a withheld event. Throws the same errors as
   * `JSON.stringify`.
   */
  encode(event: AgentEvent): string
  /** Returns the frame as a server-sent event with the cursor `seq` as `id`; empty for a withheld event. */
  sse(event: AgentEvent): string
}

const shownEvents = optionsOf<ShownEvents>({ turnRequests: aFlag })

/**
 * Creates an encoder for phi-core events in a compact form, for one connection.
 *
 * **Contract**
 * - The first frame of a connection is complete, as is a frame after a gap in `seq`. Other frames omit `runId`, `sessionId`, `loopId` and
 *   `seq` (incremented by one), and `at` if unchanged.
 * - Consecutive deltas of a message omit `type` and `messageId`. Deltas of the same kind also omit all equal fields of `delta`.
 * - Text that continues the same block is `["words", ms]`, with the milliseconds since the previous frame if not 0. 16 characters cost
 *   about 40 bytes as a server-sent event.
 * - Each message is sent once. Later events of the same loop refer to it as `{ sent: id }`. The end of a response omits texts already sent
 *   as deltas. `grown` lists these blocks.
 * - The `event` of a `childEvent` is encoded in the same way, relative to the call's previous event.
 * - `eventDecoder` restores the events exactly. Unknown types and fields pass through unchanged.
 *
 * @example
 * ```ts
 * const encoder = eventEncoder()
 * for await (const event of run) socket.send(encoder.encode(event))
 * ```
 */
export function eventEncoder(shown: ShownEvents = {}): EventEncoder {
  checkOptions(shown, shownEvents)
  return new LeanEncoder(shown)
}

/** Fields of the previous event that the next frame may omit. */
type Place = Pick<AgentEvent, 'runId' | 'sessionId' | 'loopId' | 'seq' | 'at'>

class LeanEncoder implements EventEncoder {
  readonly #shown: ShownEvents
  #place: Place | undefined
  /** The previous event, if it was a delta that the next delta can build on. */
  #update: MessageUpdateEvent | undefined
  readonly #messages = new SentMessages()
  /** Encoders of nested events, by running call. */
  readonly #children = new Map<string, LeanEncoder>()

  constructor(shown: ShownEvents) {
    this.#shown = shown
  }

  encode(event: AgentEvent): string {
    if (isWithheld(event, this.#shown)) return ''
    const json = event.type === 'messageUpdate' ? this.#delta(event) : this.#other(event)
    if (event.type === 'messageUpdate') this.#messages.add(event)
    this.#place = event
    this.#update = event.type === 'messageUpdate' && hasKnownKeys(event) ? event : undefined
    if (event.type === 'toolExecutionEnd') this.#children.delete(event.toolCallId)
    return json
  }

  sse(event: AgentEvent): string {
    const json = this.encode(event)
    return json === '' ? '' : `id: ${event.seq}\ndata: ${json}\n\n`
  }

  /** Builds the JSON manually, because this runs for every text delta. */
  #delta(event: MessageUpdateEvent): string {
    const before = this.#update
    if (before === undefined || event.messageId !== before.messageId) return this.#other(event)
    if (!this.#follows(event) || !hasKnownKeys(event)) return this.#other(event)
    const words = event.fromSeq === undefined ? wordsAfter(event.delta, before.delta) : undefined
    if (words !== undefined) return event.at === before.at ? `[${words}]` : `[${words},${event.at - before.at}]`
    const at = event.at === before.at ? '' : `"at":${event.at},`
    const covers = event.fromSeq === undefined ? '' : `"fromSeq":${event.fromSeq},"seq":${event.seq},`
    const delta = deltaAfter(event.delta, before.delta)
    return `{${at}${covers}"delta":${delta}}`
  }

  #other(event: AgentEvent): string {
    const shown = asEmitted(event)
    if (shown.type !== 'childEvent') {
      const short = this.#messages.shorten(shown)
      return JSON.stringify(this.#follows(event) ? this.#lean(shown, short) : short)
    }
    const { event: reported, ...call } = shown
    const child = this.#children.get(call.toolCallId) ?? new LeanEncoder(this.#shown)
    this.#children.set(call.toolCallId, child)
    return `${JSON.stringify(this.#follows(event) ? this.#lean(call, call) : call).slice(0, -1)},"event":${child.encode(reported)}}`
  }

  #lean({ at, seq }: Pick<AgentEvent, 'at' | 'seq'>, event: object): object {
    const { runId: _run, sessionId: _session, loopId: _loop, at: _at, seq: _seq, ...rest }: Partial<Place> = event
    return { ...(at !== this.#place?.at && { at }), ...('fromSeq' in rest && { seq }), ...rest }
  }

  /** Returns whether this event directly follows the previous one in the same loop. */
  #follows(event: AgentEvent): boolean {
    const { runId, sessionId, loopId, seq } = event
    const before = this.#place
    if (before === undefined || before.runId !== runId || before.loopId !== loopId || before.sessionId !== sessionId) return false
    const from = 'fromSeq' in event && typeof event.fromSeq === 'number' ? event.fromSeq : seq
    return from === before.seq + 1
  }
}

/** Returns only the text, as JSON, of a delta that continues the previous one. */
function wordsAfter(delta: StreamDelta, before: StreamDelta): string | undefined {
  return 'delta' in delta && delta.type === before.type && changesOf(delta, before) === '' ? JSON.stringify(delta.delta) : undefined
}

function deltaAfter(delta: StreamDelta, before: StreamDelta): string {
  if (!('delta' in delta) || delta.type !== before.type) return JSON.stringify(delta)
  return `{${changesOf(delta, before)}"delta":${JSON.stringify(delta.delta)}}`
}

function changesOf(delta: StreamDelta, before: StreamDelta): string {
  let changes = delta.contentIndex === before.contentIndex ? '' : `"contentIndex":${delta.contentIndex},`
  if (delta.type !== 'toolCallDelta' || before.type !== 'toolCallDelta') return changes
  if (delta.toolCallId !== before.toolCallId) changes += `"toolCallId":${JSON.stringify(delta.toolCallId)},`
  if (delta.toolName !== before.toolName) changes += `"toolName":${JSON.stringify(delta.toolName)},`
  return changes
}

/** Returns whether the delta has only known fields. Otherwise, it is encoded completely. */
function hasKnownKeys(event: MessageUpdateEvent): boolean {
  return countKeys(event) === (event.fromSeq === undefined ? 8 : 9) && countKeys(event.delta) === keysOf[event.delta.type]
}

const keysOf: Record<string, number> = { text: 3, thinking: 3, toolCallDelta: 5, citation: 3, block: 3 } satisfies Record<
  StreamDelta['type'],
  number
>

function countKeys(value: object): number {
  let count = 0
  for (const _ in value) count += 1
  return count
}
