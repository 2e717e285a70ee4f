import { type ReadonlySignal, signal } from '@preact/signals'
import type { AnnotatedRequest } from '../../../../src/context.ts'
import type { AgentEvent, EventOf } from '../../../../src/index.ts'
import type { LoopRecord } from '../../../../src/session.ts'
import { expectForm, type Misfits, misfitOf, misfitsIn, noMisfits } from './answer-fit.ts'
import { Trace } from './trace.ts'

/** Maximum number of events. Beyond it, the log removes the oldest fifth. */
const eventLimit = 50_000

/** A turn's request. After a context overflow there are two requests, and the last one counts. */
export interface CapturedTurn {
  loopId: string
  turnIndex: number
  request: AnnotatedRequest
}

/**
 * All events in a conversation. Lists grow in place. Each property reads `version` first, so components and effects that use it update when
 * events arrive.
 */
export class EventLog {
  readonly #events: AgentEvent[] = []
  readonly #requests: CapturedTurn[] = []
  readonly #trace = new Trace()
  #dropped = 0
  readonly #version = signal(0)
  readonly #misfits = signal(noMisfits)

  get version(): ReadonlySignal<number> {
    return this.#version
  }

  get events(): readonly AgentEvent[] {
    return this.#followed(this.#events)
  }

  /** Requests in the order in which they were sent. */
  get requests(): readonly CapturedTurn[] {
    return this.#followed(this.#requests)
  }

  get trace(): Trace {
    return this.#followed(this.#trace)
  }

  /** Number of removed events. */
  get dropped(): number {
    return this.#followed(this.#dropped)
  }

  /** Responses that violate their requested format. */
  get misfits(): ReadonlySignal<Misfits> {
    return this.#misfits
  }

  add(event: AgentEvent): void {
    this.#events.push(frozen(event))
    this.#trace.accept(event)
    const inner = event.type === 'childEvent' ? event.event : event
    if (inner.type === 'turnRequest') this.#capture(inner)
    if (event.type === 'messageStart' || event.type === 'messageEnd') this.#compare(event)
    if (this.#events.length <= eventLimit) return
    this.#events.splice(0, eventLimit / 5)
    this.#dropped += eventLimit / 5
  }

  /** Adds loops that were recorded before this page subscribed. */
  restore(loops: readonly LoopRecord[]): void {
    for (const { parallelGroup, startedAt } of loops) {
      if (parallelGroup?.isSelected) this.#trace.group(parallelGroup.allLoopIds, startedAt)
    }
    const known = new Set(this.#requests.map(turnKey))
    const events = loops.flatMap((loop) => loop.events.map(({ event }) => event))
    // Branches ran concurrently, so their events are interleaved.
    for (const event of events.sort((a, b) => a.at - b.at)) this.add(event)
    for (const loop of loops) {
      if (loop.events.length === 0) this.#trace.acceptRecord(loop)
      for (const { turnId, requestPayload } of loop.turns) {
        if (requestPayload !== undefined && !known.has(turnKey(turnId))) this.#capture({ ...turnId, request: requestPayload })
      }
    }
    void misfitsIn({ loops }).then((found) => this.#tell(found))
    this.#trace.roots.sort((a, b) => a.startedAt - b.startedAt)
  }

  /** Notifies readers of new events. */
  publish(): void {
    this.#version.value += 1
  }

  #followed<T>(part: T): T {
    void this.#version.value
    return part
  }

  /** Validates the response against its request. */
  #compare({ type, message, loopId }: EventOf<'messageStart' | 'messageEnd'>): void {
    const form =
      message.role === 'assistant' ? this.#requests.findLast((turn) => turn.loopId === loopId)?.request.responseFormat : undefined
    if (message.role !== 'assistant' || form === undefined) return
    if (type === 'messageStart') expectForm(message, form)
    else void misfitOf(message, form).then((misfit) => misfit && this.#tell(new Map([[message.id, misfit]])))
  }

  #tell(found: Misfits): void {
    if (found.size === 0) return
    for (const { turn, word } of found.values()) if (turn !== undefined) this.#trace.mark(turn, word)
    this.#misfits.value = new Map([...this.#misfits.value, ...found])
    this.publish()
  }

  #capture({ loopId, turnIndex, request }: CapturedTurn): void {
    const captured = { loopId, turnIndex, request }
    const at = this.#requests.findLastIndex((other) => turnKey(other) === turnKey(captured))
    if (at < 0) this.#requests.push(captured)
    else this.#requests[at] = captured
  }
}

export function turnKey({ loopId, turnIndex }: { loopId: string; turnIndex: number }): string {
  return `${loopId}#${turnIndex}`
}

/** Copies an event, because a started assistant message is a live view that would show later text. */
function frozen(event: AgentEvent): AgentEvent {
  return event.type === 'messageStart' || (event.type === 'childEvent' && event.event.type === 'messageStart')
    ? structuredClone(event)
    : event
}
