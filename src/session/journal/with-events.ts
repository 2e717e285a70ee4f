import { checkStore } from '../../base/argument-checks.ts'
import { startTimer } from '../../base/timer.ts'
import { now } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { LoopEvent } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, options as optionsOf } from '../../contract/shape/shape.ts'
import type { JournaledConversation, JournalRecord } from '../../types/session/journal.ts'
import type { CaughtUp, LoopPlace, SessionJournal, SessionStore } from '../../types/session/session-store.ts'
import { eventsPerRecord } from '../views/session-tree.ts'
import { withJournal } from './session-journal.ts'

/** Which events are kept. */
export interface EventKeeping {
  /** Also `messageUpdate`, one for each delta. Default `false`: the finished messages say the same, but not how they came. */
  includeStreamingEvents?: boolean
}

/** What a store that keeps events can do besides. */
export interface EventStore {
  /**
   * Has what was reported so far written down at once: for a page that is about to end. Resolves when it is, and also where it was refused: the caller of
   * the next append hears of that.
   */
  flushEvents(): Promise<void>
}

const keepingOptions = optionsOf<EventKeeping>({ includeStreamingEvents: aFlag })

/**
 * A store that also keeps the events of the runs that are recorded in it, for `replayEvents`; in everything else `store` itself.
 *
 * **Contract**
 * - Events are written with the records they belong to: they cost room, and no write of their own, except one where an answer begins to come, one per 256
 *   deltas, and one per second in which deltas come. Messages stand in several events, so a log becomes about four times as long.
 * - With deltas, what somebody saw for a second outlives the process, also where nothing more comes. Other events since the last record are lost with it,
 *   unless `flushEvents` is called before it ends. A run never waits for its events, nor fails because of them.
 * - `turnRequest` events are left out: where requests are captured they are records already.
 *
 * Source: docs/concepts/sessions.md
 *
 * @example
 * ```ts
 * const session = withEvents(fileSessionStore('sessions'), { includeStreamingEvents: true })
 * const agent = new Agent({ model, session })
 * ```
 */
export function withEvents<Store extends SessionStore>(store: Store, options: EventKeeping = {}): Store & EventStore {
  checkStore(store, 'journal')
  checkOptions(options, keepingOptions)
  const { includeStreamingEvents = false } = options
  const open = new Set<EventKeeper>()
  const flushEvents = async () => void (await Promise.all([...open].map((keeper) => keeper.flush())))
  return withJournal(store, (settings) => new EventKeeper(store.journal(settings), includeStreamingEvents, open), { flushEvents })
}

/** Where deltas are kept, what was seen is written at the latest so many milliseconds after it was seen. */
const longestUnwrittenMs = 1000

/** Events of one loop that are not written yet. */
interface KeptLoop {
  sequence: number
  /** When the oldest of them came, epoch ms. */
  since: number
  /** Whether something of the answer that is on was seen. */
  hasBegun: boolean
  /** Stops the timer after which they are written. */
  stopWaiting?: (() => void) | undefined
  events: LoopEvent[]
  /** The last record, which says where events belong. */
  place?: { record: JournalRecord; conversation: JournaledConversation }
}

class EventKeeper implements SessionJournal {
  readonly #journal: SessionJournal
  readonly #isStreaming: boolean
  readonly #loops = new Map<string, KeptLoop>()
  /** Those that may have something to write. */
  readonly #open: Set<EventKeeper>

  constructor(journal: SessionJournal, isStreaming: boolean, open: Set<EventKeeper>) {
    this.#journal = journal
    this.#isStreaming = isStreaming
    this.#open = open
  }

  event(event: AgentEvent): void {
    this.#journal.event?.(event)
    const loop = this.#loopOf(event.loopId)
    const sequence = loop.sequence++
    if (event.type === 'turnRequest' || (event.type === 'messageUpdate' && !this.#isStreaming)) return
    if (loop.events.length === 0) loop.since = event.at
    loop.events.push({ sequence, event: asItWas(event) })
    const isDelta = event.type === 'messageUpdate'
    const isFirst = isDelta && !loop.hasBegun
    if (isDelta || event.type === 'messageStart') loop.hasBegun = isDelta
    // Browsers hold back the timers of a page that nobody sees.
    const isLate = this.#isStreaming && event.at - loop.since >= longestUnwrittenMs
    if (isFirst || isLate || loop.events.length >= eventsPerRecord) this.#write(loop)
    else if (isDelta) loop.stopWaiting ??= startTimer(longestUnwrittenMs, () => this.#write(loop))
  }

  open(place: LoopPlace, conversation: JournaledConversation): Promise<CaughtUp | undefined> {
    return this.#journal.open(place, conversation)
  }

  append(record: JournalRecord, conversation: JournaledConversation): Promise<void> {
    const written = this.#journal.append(record, conversation)
    const { loopId, entry } = record
    const loop = this.#loopOf(loopId)
    loop.place = { record, conversation }
    // It waits for the next record, and so do they.
    if (entry.type !== 'turnStart') this.#write(loop)
    if (entry.type === 'loopEnd') this.#forget(loopId)
    return written
  }

  media(...asked: Parameters<SessionJournal['media']>): ReturnType<SessionJournal['media']> {
    return this.#journal.media(...asked)
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#loops.values()].map((loop) => this.#write(loop)))
  }

  async close(): Promise<void> {
    void this.flush()
    this.#open.delete(this)
    await this.#journal.close()
  }

  #loopOf(loopId: string): KeptLoop {
    const known = this.#loops.get(loopId)
    if (known !== undefined) return known
    const loop: KeptLoop = { sequence: 0, since: 0, hasBegun: false, events: [] }
    this.#loops.set(loopId, loop)
    this.#open.add(this)
    return loop
  }

  #forget(loopId: string): void {
    this.#loops.get(loopId)?.stopWaiting?.()
    this.#loops.delete(loopId)
    if (this.#loops.size === 0) this.#open.delete(this)
  }

  /** Never rejects. */
  #write(loop: KeptLoop): Promise<void> | undefined {
    const { place, events } = loop
    loop.stopWaiting?.()
    loop.stopWaiting = undefined
    if (place === undefined || events.length === 0) return undefined
    loop.events = []
    const record: JournalRecord = { ...place.record, at: now(), entry: { type: 'events', events } }
    // Whoever appends the next record hears of it.
    return this.#journal.append(record, place.conversation).catch(() => undefined)
  }
}

/** The message of an answer that begins grows until its end. */
function asItWas(event: AgentEvent): AgentEvent {
  return event.type === 'messageStart' && event.message.role === 'assistant' ? structuredClone(event) : event
}
