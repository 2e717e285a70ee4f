import { logWarning } from '../base/log-warning.ts'
import { errorText } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { Logger } from '../types/logger.ts'
import { type AgentRun, RunError, type RunResult } from '../types/run/run.ts'
import { EventLog } from './event-log.ts'

/** What a run is to those who read it, wherever its loop is: its events, and what it came to. See {@link AgentRun} for the contract. */
export abstract class LoggedRun implements Pick<AgentRun, 'result' | 'subscribe' | 'events' | 'text' | 'abort'> {
  abstract readonly id: string
  abstract readonly result: Promise<RunResult>
  protected readonly log: EventLog

  constructor(logger: Logger | false | undefined, replayBytes?: number) {
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
    return this.log.subscribe(listener)
  }

  events(options: { after?: number } = {}): AsyncIterable<AgentEvent> {
    return this.log.read(options)
  }

  async text(): Promise<string> {
    const result = await this.result
    if (result.status !== 'completed') throw new RunError(result)
    return result.text
  }
}
