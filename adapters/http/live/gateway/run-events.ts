import { type AgentEvent, type AgentMessage, type AgentRun, CursorExpiredError } from '../../../../src/index.ts'
import { ProblemError, refuse } from '../../access/problem.ts'
import type { EventSource, MediaForm, RunPlace, RunSource } from '../../stream/event-source.ts'
import type { LiveSession } from '../live-session.ts'
import { eventsIn, messagesIn } from './media-form.ts'

/** Events of a run in this process, for writers. */
export class RunEvents implements RunSource {
  readonly #run: AgentRun
  readonly #events: AsyncIterable<AgentEvent>

  /** By default, `events` contains all events in memory. */
  constructor(run: AgentRun, events: AsyncIterable<AgentEvent> = run) {
    this.#run = run
    this.#events = events
    // The client sees the end and the pending calls, so prevent the warning.
    void run.result
    run.pendingApprovals()
  }

  get runId(): string {
    return this.#run.id
  }

  get loopId(): string {
    return this.#run.loopId
  }

  get sessionId(): string {
    return this.#run.sessionId
  }

  get isWaiting(): boolean {
    return this.#run.pendingApprovals().length + this.#run.pendingClientCalls().length > 0
  }

  async historyBefore(): Promise<readonly AgentMessage[]> {
    return []
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.#events[Symbol.asyncIterator]()
  }
}

/** Events of a run in a session. */
class SessionRunEvents extends RunEvents {
  readonly #live: LiveSession
  readonly #of: AgentRun
  readonly #media: MediaForm

  constructor(live: LiveSession, run: AgentRun, events: AsyncIterable<AgentEvent>, media: MediaForm) {
    super(run, eventsIn(media, live, events))
    this.#live = live
    this.#of = run
    this.#media = media
  }

  get takenOver(): AbortSignal {
    return this.#live.takenOver
  }

  override historyBefore(): Promise<readonly AgentMessage[]> {
    return messagesIn(this.#media, this.#live, this.#live.historyBefore(this.#of))
  }

  enter(): () => void {
    return this.#live.enter()
  }
}

/** Returns the events of a session's run. Rejects like `runOf`, and with 410 `cursorExpired` if requested events were released. */
export async function runEvents(live: LiveSession, place: RunPlace, media: MediaForm): Promise<RunSource> {
  const run = await runOf(live, place)
  return new SessionRunEvents(live, run, eventsFrom(run, place), media)
}

/** Returns a session's events across runs. Rejects like `runEvents`. */
export async function followedEvents(live: LiveSession, place: RunPlace | undefined, media: MediaForm): Promise<EventSource> {
  const first = place === undefined ? undefined : eventsFrom(await runOf(live, place), place)
  const left = new AbortController()
  const events = eventsIn(media, live, live.follow(left.signal, first))
  return {
    isWaiting: false,
    takenOver: live.takenOver,
    onState: (listener) => live.onState(listener),
    enter: () => {
      const disconnect = live.enter()
      return () => {
        disconnect()
        left.abort()
      }
    },
    [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
  }
}

function eventsFrom(run: AgentRun, { after }: RunPlace): AsyncIterable<AgentEvent> {
  try {
    return after === undefined ? run : run.events({ after })
  } catch (error) {
    if (!(error instanceof CursorExpiredError)) throw error
    throw new ProblemError({ status: 410, code: 'cursorExpired', detail: error.message })
  }
}

/** Returns the run of this loop or id. Rejects with 410 if its events were released, 404 if it never existed. */
export async function runOf(live: LiveSession, place: { loopId: string; runId?: string }): Promise<AgentRun> {
  const run = await live.runOf(place)
  if (run !== undefined) return run
  const { loopId } = place
  const trace = await live.recorded.trace(loopId, (await live.currentRun())?.loopId)
  if (trace === undefined) refuse(404, 'notFound', 'The run does not exist. Use a loopId from its events.')
  const next = trace.continuedBy === undefined ? '' : ' Then read the events of the loop that continues it.'
  const detail = `The events of this run are no longer available. The session has its outcome.${next}`
  throw new ProblemError({ status: 410, code: 'gone', detail, loopId, ...trace })
}
