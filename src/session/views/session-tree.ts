import { changedState } from '../../base/json/json-patch.ts'
import type { LoopEvent, LoopRecord, ParallelGroupRecord, Session } from '../../contract/session/session.ts'
import type { SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { StateChange } from '../../contract/session/shared-state.ts'
import type { NewSessionRecord } from '../../types/session/session-store.ts'
import { LoopBuilder, openedLoop } from './loop-builder.ts'
import { linkChild } from './navigation.ts'
import { RepeatedRequests } from './repeated-requests.ts'

/** So many events share a record, so that no record grows with its loop. */
export const eventsPerRecord = 256

/** What concerns one loop. */
type LoopEntry = Exclude<SessionEntry, { type: 'sessionStart' | 'title' | 'sharedState' | 'events' | 'loop' | 'parallelGroup' }>

/**
 * The tree that the records of a session amount to.
 *
 * **Contract**
 * - Pure, in time proportional to the records, with which the tree shares its messages. Never throws: entries of unknown types are passed
 *   over, what is missing is empty.
 * - `events` are those that were kept (`withEvents`, or an `EventRecorder`); by itself a log holds what happened, not what was reported.
 * - A loop without an end is `running` while its writer is the newest of the log, else `interrupted` at its last record. Its last turn is left
 *   out of `turns` when it has no answer of the model, or an unanswered call; the messages are in `messages`.
 * - Results stand in the order of their calls, in whichever they were recorded.
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
  /** Of loops without an end: the writer of their last record. */
  readonly #open = new Map<string, number>()
  readonly #requests = new RepeatedRequests()
  /** What was shared when it was recorded as a whole, and each change since: what was before is not put together. */
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

  /** The builder of the loop: with a record that only says when it began, where nothing was heard of it yet. */
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
      builder.beginCall(entry.toolCallId, entry.idempotent)
      break
  }
}

function interrupt({ record, lastAt }: LoopBuilder): void {
  record.status = 'interrupted'
  record.endedAt ??= lastAt
}

/** A copy whose lists may grow. */
function copyOf(loop: Omit<LoopRecord, 'events'>): LoopRecord {
  const { messages, turns, childrenLoopIds, childLoopRefs } = loop
  const lists = { messages: [...messages], turns: [...turns], childrenLoopIds: [...childrenLoopIds], childLoopRefs: [...childLoopRefs] }
  return { ...loop, ...lists, events: [] }
}

/**
 * The records of a tree, in order: its beginning, then each loop as a whole.
 *
 * **Contract**: `sessionOf` makes the same session of them, with keys that nobody knows and the events of its loops. A log can go on from there as
 * from any other.
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
  // Others could not be read back.
  const kept = events.filter(({ event }) => typeof event.type === 'string')
  for (let first = 0; first < kept.length; first += eventsPerRecord) {
    records.push({ at, loopId, entry: { type: 'events', events: kept.slice(first, first + eventsPerRecord) } })
  }
  return records
}
