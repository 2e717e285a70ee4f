import type { AgentEvent } from '../../../src/index.ts'

/** Converts an event for its reader. */
export type TellEvent = (event: AgentEvent) => AgentEvent | Promise<AgentEvent>

/** Events that may be available synchronously, so that many can be written together. */
export interface ReadyEvents extends AsyncIterator<AgentEvent> {
  ready?(): AgentEvent | undefined
}

/** Applies `tell` to each event of `source`, in order. Available events stay available unless `tell` is asynchronous. */
export function mappedEvents(source: AsyncIterable<AgentEvent>, tell: TellEvent): AsyncIterable<AgentEvent> {
  return { [Symbol.asyncIterator]: () => new MappedEvents(source[Symbol.asyncIterator](), tell) }
}

class MappedEvents implements ReadyEvents {
  readonly #events: ReadyEvents
  readonly #tell: TellEvent
  /** The next event, if `tell` is asynchronous. */
  #late: Promise<AgentEvent> | undefined

  constructor(events: ReadyEvents, tell: TellEvent) {
    this.#events = events
    this.#tell = tell
  }

  ready(): AgentEvent | undefined {
    const event = this.#late === undefined ? this.#events.ready?.() : undefined
    const mapped = event === undefined ? undefined : this.#tell(event)
    if (!(mapped instanceof Promise)) return mapped
    this.#late = mapped
    // The next read receives the rejection.
    mapped.catch(() => undefined)
    return undefined
  }

  async next(): Promise<IteratorResult<AgentEvent>> {
    const late = this.#late
    this.#late = undefined
    if (late !== undefined) return { done: false, value: await late }
    const next = await this.#events.next()
    return next.done === true ? next : { done: false, value: await this.#tell(next.value) }
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    await this.#events.return?.()
    return { done: true, value: undefined }
  }
}
