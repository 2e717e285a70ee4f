import { now } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { LoopEvent } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, options as optionsOf } from '../../contract/shape/shape.ts'
import type { JournaledConversation, JournalRecord } from '../../types/session/journal.ts'
import type { CaughtUp, LoopPlace, SessionJournal, SessionStore } from '../../types/session/session-store.ts'
import { eventsPerRecord } from '../views/session-tree.ts'
import { withJournal } from './with-journal.ts'

/** Which events are kept. */
export interface EventKeeping {
  /** Also `messageUpdate`, one for each delta. Default `false`: the finished messages say the same, but not how they came. */
  includeStreamingEvents?: boolean
}

const keepingOptions = optionsOf<EventKeeping>({ includeStreamingEvents: aFlag })

/**
 * A store that also keeps the events of the runs that are recorded in it, for `replayEvents`; in everything else `store` itself.
 *
 * **Contract**
 * - Events are written with the records they belong to: they cost room, and no write of their own, except one per 256 deltas. Messages stand in
 *   several events, so a log becomes about four times as long.
 * - What was reported since the last record is lost with the process. A run never waits for its events, nor fails because of them.
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
export function withEvents<Store extends SessionStore>(store: Store, options: EventKeeping = {}): Store {
  checkOptions(options, keepingOptions)
  const { includeStreamingEvents = false } = options
  return withJournal(store, (settings) => new EventKeeper(store.journal(settings), includeStreamingEvents))
}

/** Events of one loop that are not written yet. */
interface KeptLoop {
  sequence: number
  events: LoopEvent[]
  /** The last record, which says where events belong. */
  place?: { record: JournalRecord; conversation: JournaledConversation }
}

class EventKeeper implements SessionJournal {
  readonly #journal: SessionJournal
  readonly #isStreaming: boolean
  readonly #loops = new Map<string, KeptLoop>()

  constructor(journal: SessionJournal, isStreaming: boolean) {
    this.#journal = journal
    this.#isStreaming = isStreaming
  }

  event(event: AgentEvent): void {
    this.#journal.event?.(event)
    const loop = this.#loopOf(event.loopId)
    const sequence = loop.sequence++
    if (event.type === 'turnRequest' || (event.type === 'messageUpdate' && !this.#isStreaming)) return
    loop.events.push({ sequence, event: asItWas(event) })
    if (loop.events.length >= eventsPerRecord) this.#write(loop)
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
    if (entry.type === 'loopEnd') this.#loops.delete(loopId)
    return written
  }

  media(...asked: Parameters<SessionJournal['media']>): ReturnType<SessionJournal['media']> {
    return this.#journal.media(...asked)
  }

  async close(): Promise<void> {
    for (const loop of this.#loops.values()) this.#write(loop)
    await this.#journal.close()
  }

  #loopOf(loopId: string): KeptLoop {
    const known = this.#loops.get(loopId)
    if (known !== undefined) return known
    const loop: KeptLoop = { sequence: 0, events: [] }
    this.#loops.set(loopId, loop)
    return loop
  }

  #write(loop: KeptLoop): void {
    const { place, events } = loop
    if (place === undefined || events.length === 0) return
    loop.events = []
    const record: JournalRecord = { ...place.record, at: now(), entry: { type: 'events', events } }
    // Whoever appends the next record hears of it.
    this.#journal.append(record, place.conversation).catch(() => undefined)
  }
}

/** The message of an answer that begins grows until its end. */
function asItWas(event: AgentEvent): AgentEvent {
  return event.type === 'messageStart' && event.message.role === 'assistant' ? structuredClone(event) : event
}
