import { type LateChunk, lateChunk } from '../base/late/late-chunk.ts'
import { logWarning } from '../base/log-warning.ts'
import { errorText } from '../contract/errors.ts'
import type { OutputForm } from '../contract/model/request-settings.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, aNumberFromZero, aText, listOf, options as optionsOf } from '../contract/shape/shape.ts'
import type { Logger } from '../types/logger.ts'
import { type AgentRun, RunError, type RunResult } from '../types/run/run.ts'
import { EventLog } from './event-log.ts'
import type { EventReader } from './event-reader.ts'

type Reader = typeof import('./partial-outputs.ts')
const reader: LateChunk<Reader> = lateChunk('the reader of answers that are JSON', () => import('./partial-outputs.ts'))

/** Name of `run.text`, shown when a caller logs it without calling it. */
const nameOfText = 'text() is a method: await run.text()'

const eventsOptions = optionsOf<{ after?: number }>({ after: aNumberFromZero })

/** A run's reading side, local or remote: its events and its result. See {@link AgentRun} for the contract. */
export abstract class LoggedRun
  implements Pick<AgentRun, 'result' | 'subscribe' | 'events' | 'text' | 'textStream' | 'partial' | 'elements' | 'abort'>
{
  abstract readonly id: string
  abstract readonly result: Promise<RunResult>
  protected readonly log: EventLog

  constructor(logger: Logger | false | undefined, replayBytes?: number) {
    // Set in the constructor, because bundlers could not drop the class if this statement were outside it.
    if (this.text.name !== nameOfText) Object.defineProperty(this.text, 'name', { value: nameOfText })
    this.log = new EventLog({
      ...(replayBytes !== undefined && { replayBytes }),
      onListenerError: (error) => logWarning(logger, 'listenerFailed', { runId: this.id, message: errorText(error) }),
    })
  }

  abstract abort(reason?: unknown): void

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.log.read({ after: this.log.oldest })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort()
    await this.result
  }

  subscribe(listener: (event: AgentEvent) => void): () => void {
    checkOptions(listener, aFunction, 'listener')
    return this.log.subscribe(listener)
  }

  events(options: { after?: number } = {}): AsyncIterable<AgentEvent> {
    checkOptions(options, eventsOptions)
    return this.log.read(options)
  }

  get textStream(): AsyncIterable<string> {
    return this.#texts()
  }

  /** Location of the requested value in the response. Known once the run has started. */
  protected form: OutputForm | undefined

  /** Appends an event of the run. */
  protected append(event: AgentEvent): void {
    if (event.type === 'agentStart') this.form = event.configSnapshot.output
    this.log.append(event)
  }

  partial(): AsyncIterable<never> {
    const values = this.#followed(({ partialOutputs }, events) => partialOutputs(events, () => this.form))
    return values as AsyncIterable<never> // what the form of the answer promises, in part
  }

  elements(...path: string[]): AsyncIterable<never> {
    checkOptions(path, listOf(aText), 'path')
    const values = this.#followed(({ outputElements }, events) => outputElements(events, () => this.form, path))
    return values as AsyncIterable<never> // what the form of the answer promises
  }

  /** All events, for a reader of a part of the response, which cannot show requests. */
  #unattended(): EventReader {
    return this.log.read({ after: this.log.oldest, seesQuestions: false })
  }

  /** Attaches immediately, so that no events are missed during the lazy load. */
  async *#followed<T>(read: (reader: Reader, events: AsyncIterable<AgentEvent>) => AsyncIterable<T>): AsyncGenerator<T> {
    const ended = this.result
    const events = this.#unattended()
    try {
      yield* read(reader.loaded ?? (await reader.load()), events)
    } finally {
      await events.return()
    }
    completed(await ended)
  }

  async *#texts(): AsyncGenerator<string> {
    // Requested immediately, so that a failure counts as observed.
    const ended = this.result
    for await (const event of this.#unattended()) if (event.type === 'messageUpdate' && event.delta.type === 'text') yield event.delta.delta
    completed(await ended)
  }

  async text(): Promise<string> {
    return completed(await this.result).text
  }
}

function completed(result: RunResult): RunResult {
  if (result.status !== 'completed') throw new RunError(result)
  return result
}
