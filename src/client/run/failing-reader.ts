import type { AgentEvent } from '../../contract/run/event.ts'

/** A reader of a run that throws, after its last event, why the run could not be read on. */
export class FailingReader implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #reader: AsyncIterableIterator<AgentEvent, undefined>
  readonly #failure: () => Error | undefined

  constructor(reader: AsyncIterableIterator<AgentEvent, undefined>, failure: () => Error | undefined) {
    this.#reader = reader
    this.#failure = failure
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const result = await this.#reader.next()
    const failure = result.done === true ? this.#failure() : undefined
    if (failure !== undefined) throw failure
    return result
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    await this.#reader.return?.()
    return { done: true, value: undefined }
  }
}
