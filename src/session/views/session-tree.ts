import { changedState } from '../../base/json/json-patch.ts'
import type { LoopEvent, LoopRecord, ParallelGroupRecord, Session } from '../../contract/session/session.ts'
import type { SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { StateChange } from '../../contract/session/shared-state.ts'
import type { NewSessionRecord } from '../../types/session/session-store.ts'
import { LoopBuilder, openedLoop } from './loop-builder.ts'
import { linkChild } from './navigation.ts'
import { RepeatedRequests } from './repeated-requests.ts'

/** Maximum events per record. */
export const eventsPerRecord = 256

/** One loop's entries. */
type LoopEntry = Exclude<SessionEntry, { type: 'sessionStart' | 'title' | 'sharedState' | 'events' | 'loop' | 'parallelGroup' }>

/**
 * Builds the session tree from a log's records.
 *
 * **Contract**
 * - Pure, and linear in the number of records. The tree shares messages with the records. Never throws: skips unknown entries and leaves
 *   missing data empty.
 * - `events` contains stored events (from `withEvents` or an `EventRecorder`), if any.
 * - A loop without an end is `running` while its writer is the newest. Otherwise it is `interrupted` at its last record. `turns` omits the
 *   session's last turn if the turn has no response or has an open call. `messages` includes that turn's messages.
 * - Results follow the order of their calls.
 *
 * Source: docs/reference/sessions.md
 */
export function sessionOf(records: readonly SessionRecord[], sessionId: string): Session {
  const tree = new RecordedTree(sessionId, records[0]?.at ?? 0)
  for (const record of records) tree.add(record)
  return tree.finish(records.at(-1)?.epoch ?? 0)
}

class RecordedTree {
  readonly #session: Session
  readonly #builders = new Map<string, LoopBuilder>()
  /** Last writer of each loop without an end. */
  readonly #open = new Map<string, number>()
  readonly #requests = new RepeatedRequests()
  /** The last full state and later changes. Earlier states are not rebuilt. */
  #shared: StateChange[] = []

  constructor(sessionId: string, at: number) {
    const formation = { type: 'firstLoop' as const, at }
    this.#session = { sessionId, agentId: '', createdAt: at, lastActiveAt: at, formation, scope: 'persistent', loops: [] }
  }

  add(record: SessionRecord): void {
    const { entry, at, epoch, loopId } = record
    switch (entry.type) {
      case 'sessionStart':
        this.#begin(entry, at)
        break
      case 'title':
        this.#session.title = entry.title
        break
      case 'sharedState':
        this.#share(entry)
        break
      case 'events':
        this.#addEvents(loopId, entry.events)
        break
      case 'loop':
        this.#addLoop(copyOf(entry.loop))
        break
      case 'parallelGroup':
        for (const id of entry.group.allLoopIds) this.#setGroup(id, entry.group)
        break
      case 'unknown':
        break
      default:
        if (loopId !== undefined) this.#addToLoop(this.#builder(loopId, at, epoch), entry, record)
    }
  }

  finish(newestEpoch: number): Session {
    for (const change of this.#shared) {
      const state = changedState(this.#session.sharedState, change)
      if (state !== undefined) this.#session.sharedState = state
    }
    for (const [loopId, epoch] of this.#open) {
      const builder = this.#builders.get(loopId)
      builder?.settleTurn()
      builder?.cutOff()
      if (builder !== undefined && epoch < newestEpoch) interrupt(builder)
    }
    return this.#session
  }

  #begin({ type: _, spawnRef, lastActiveAt, ...header }: Extract<SessionEntry, { type: 'sessionStart' }>, at: number): void {
    Object.assign(this.#session, header, { createdAt: at, lastActiveAt: lastActiveAt ?? at })
    if (spawnRef !== undefined) this.#session.parentSpawnRef = spawnRef
  }

  #share(change: StateChange): void {
    if (change.value !== undefined) this.#shared = []
    this.#shared.push(change)
  }

  /** Returns a loop's builder, and creates it with the loop's start time if needed. */
  #builder(loopId: string, at: number, epoch: number): LoopBuilder {
    const { sessionId, agentId } = this.#session
    const known = this.#builders.get(loopId)
    if (known === undefined || this.#open.has(loopId)) this.#open.set(loopId, epoch)
    if (known !== undefined) return known
    const opened = this.#addLoop(openedLoop({ loopId, sessionId, agentId, startedAt: at }))
    opened.watchCalls()
    return opened
  }

  #addEvents(loopId: string | undefined, events: readonly LoopEvent[]): void {
    const loop = this.#builders.get(loopId ?? '')?.record
    for (const event of events) loop?.events.push(event)
  }

  #addLoop(loop: LoopRecord): LoopBuilder {
    const builder = new LoopBuilder(loop)
    this.#builders.set(loop.loopId, builder)
    this.#session.loops.push(loop)
    return builder
  }

  #setGroup(loopId: string, group: Omit<ParallelGroupRecord, 'isSelected'>): void {
    const loop = this.#builders.get(loopId)?.record
    if (loop !== undefined) loop.parallelGroup = { ...group, isSelected: loopId === group.selectedLoopId }
  }

  #addToLoop(builder: LoopBuilder, entry: LoopEntry, { at, turnIndex }: SessionRecord): void {
    const { record } = builder
    if (entry.type === 'recovered') {
      this.#open.delete(record.loopId)
      for (const message of entry.messages) builder.add(message, builder.lastAt)
      builder.settleTurn()
      builder.cutOff()
      interrupt(builder)
      return
    }
    builder.lastAt = at
    switch (entry.type) {
      case 'loopStart':
        this.#startLoop(builder, entry)
        this.#session.lastActiveAt = at
        break
      case 'turnStart':
        builder.endTurn()
        builder.beginTurn(turnIndex ?? record.turns.length, entry.triggeredBy, at)
        break
      case 'turnRequest':
        builder.captureRequest(this.#requests.restored(entry, { loopId: record.loopId, turnIndex }))
        break
      case 'loopEnd': {
        const { type: _, ...end } = entry
        builder.endTurn()
        Object.assign(record, end, { endedAt: at })
        this.#open.delete(record.loopId)
        break
      }
      default:
        addToRecord(builder, entry, at)
    }
  }

  #startLoop(builder: LoopBuilder, { type: _, idempotencyKey: _ofServer, ...start }: Extract<SessionEntry, { type: 'loopStart' }>): void {
    Object.assign(builder.record, start)
    const parent = start.parentLoopId === undefined ? undefined : this.#builders.get(start.parentLoopId)
    if (parent === undefined || parent === builder) return
    builder.follow(parent)
    const { childrenLoopIds } = parent.record
    if (!childrenLoopIds.includes(builder.record.loopId)) childrenLoopIds.push(builder.record.loopId)
  }
}

function addToRecord(
  builder: LoopBuilder,
  entry: Exclude<LoopEntry, { type: 'loopStart' | 'turnStart' | 'turnRequest' | 'loopEnd' | 'recovered' }>,
  at: number,
): void {
  const { record } = builder
  switch (entry.type) {
    case 'input':
    case 'assistant':
    case 'toolResult':
      builder.add(entry.message, at)
      break
    case 'history':
      builder.restart({ messages: entry.messages, state: entry.state })
      break
    case 'compaction':
      record.overlay = entry.overlay
      break
    case 'prune':
      record.prunes = [...(record.prunes ?? []), entry.record]
      break
    case 'revert':
      record.reverts = [...(record.reverts ?? []), entry.record]
      break
    case 'childLoop':
      linkChild(record, entry.ref)
      break
    case 'toolIntent':
      builder.beginCall(entry)
      break
  }
}

function interrupt({ record, lastAt }: LoopBuilder): void {
  record.status = 'interrupted'
  record.endedAt ??= lastAt
}

/** Copies a loop, so that its lists can grow. */
function copyOf(loop: Omit<LoopRecord, 'events'>): LoopRecord {
  const { messages, turns, childrenLoopIds, childLoopRefs } = loop
  const lists = { messages: [...messages], turns: [...turns], childrenLoopIds: [...childrenLoopIds], childLoopRefs: [...childLoopRefs] }
  return { ...loop, ...lists, events: [] }
}

/**
 * Returns a session tree's records in order: the session start, then each loop.
 *
 * **Contract**: `sessionOf` builds the same session from these records, including unknown keys and events. A log can continue after them.
 */
export function recordsOf(session: Session): NewSessionRecord[] {
  const { sessionId: _, createdAt, parentSpawnRef, loops, sharedState, ...header } = session
  const start: SessionEntry = { type: 'sessionStart', ...header, ...(parentSpawnRef !== undefined && { spawnRef: parentSpawnRef }) }
  const shared: NewSessionRecord[] =
    sharedState === undefined ? [] : [{ at: session.lastActiveAt, entry: { type: 'sharedState', by: 'application', ...sharedState } }]
  return [{ at: createdAt, entry: start }, ...loops.flatMap(recordsOfLoop), ...shared]
}

function recordsOfLoop({ events, ...loop }: LoopRecord): NewSessionRecord[] {
  const { loopId, startedAt: at } = loop
  const records: NewSessionRecord[] = [{ at, loopId, entry: { type: 'loop', loop } }]
  // Omit events without a type, because they could not be read back.
  const kept = events.filter(({ event }) => typeof event.type === 'string')
  for (let first = 0; first < kept.length; first += eventsPerRecord) {
    records.push({ at, loopId, entry: { type: 'events', events: kept.slice(first, first + eventsPerRecord) } })
  }
  return records
}
