import type { AgentEvent } from '../../../src/index.ts'

/** Makes of an event the one that is told. */
export type TellEvent = (event: AgentEvent) => AgentEvent | Promise<AgentEvent>

/** Events that may be there already: the reader of a run tells, so that many are written at once. */
export interface ReadyEvents extends AsyncIterator<AgentEvent> {
  ready?(): AgentEvent | undefined
}

/** `source` as it is told by `tell`, in order; what is ready there is ready here, unless it has to be waited for. */
export function toldEvents(source: AsyncIterable<AgentEvent>, tell: TellEvent): AsyncIterable<AgentEvent> {
  return { [Symbol.asyncIterator]: () => new ToldEvents(source[Symbol.asyncIterator](), tell) }
}

class ToldEvents implements ReadyEvents {
  readonly #events: ReadyEvents
  readonly #tell: TellEvent
  /** It comes next. */
  #late: Promise<AgentEvent> | undefined

  constructor(events: ReadyEvents, tell: TellEvent) {
    this.#events = events
    this.#tell = tell
  }

  ready(): AgentEvent | undefined {
    const event = this.#late === undefined ? this.#events.ready?.() : undefined
    const told = event === undefined ? undefined : this.#tell(event)
    if (!(told instanceof Promise)) return told
    this.#late = told
    // Whoever asks next is told.
    told.catch(() => undefined)
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
