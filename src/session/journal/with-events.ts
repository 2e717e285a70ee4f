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

/** Options for `withEvents`. */
export interface EventKeeping {
  /** Also stores `messageUpdate` events, one per delta. Finished messages contain the same content without its timing. Default: `false`. */
  includeStreamingEvents?: boolean
}

/** Additional methods of an event-storing session store. */
export interface EventStore {
  /**
   * Writes all pending events immediately, for a page that is about to unload. Resolves even if the write fails. The next append then
   * reports the error.
   */
  flushEvents(): Promise<void>
}

const keepingOptions = optionsOf<EventKeeping>({ includeStreamingEvents: aFlag })

/**
 * Returns `store` with event storage, for `replayEvents`.
 *
 * **Contract**
 * - Events are written together with records. Extra writes occur only when a response starts, after every 256 deltas, and after each second
 *   of deltas. Logs become about four times as long.
 * - With deltas, text that was visible for a second survives a crash. Other events after the last record are lost unless `flushEvents` is
 *   called. Writing events never delays a run or makes it fail.
 * - The store omits `turnRequest` events, because records already contain captured requests.
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

/** Maximum milliseconds before visible deltas are written. */
const longestUnwrittenMs = 1000

/** Unwritten events of one loop. */
interface KeptLoop {
  sequence: number
  /** Time of the oldest unwritten event, in epoch milliseconds. */
  since: number
  /** Whether part of the current response was visible. */
  hasBegun: boolean
  /** Cancels the write timer. */
  stopWaiting?: (() => void) | undefined
  events: LoopEvent[]
  /** The last record, which determines the events' position in the log. */
  place?: { record: JournalRecord; conversation: JournaledConversation }
}

class EventKeeper implements SessionJournal {
  readonly #journal: SessionJournal
  readonly #isStreaming: boolean
  readonly #loops = new Map<string, KeptLoop>()
  /** Instances that may have unwritten events. */
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
    // Check the time as well, because browsers throttle timers in hidden pages.
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
    // Leave these events for the next write, because the loop awaits the next record.
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
    // The next append reports the error.
    return this.#journal.append(record, place.conversation).catch(() => undefined)
  }
}

/** Copies the message of a started response, because it grows later. */
function asItWas(event: AgentEvent): AgentEvent {
  return event.type === 'messageStart' && event.message.role === 'assistant' ? structuredClone(event) : event
}
