import type {
  AgentEndEvent,
  AgentEvent,
  AgentStartEvent,
  ChildEvent,
  ParallelLoopEndEvent,
  ParallelLoopStartEvent,
} from '../../contract/run/event.ts'
import type { LoopRecord, Session } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, aFunction, options as optionsOf } from '../../contract/shape/shape.ts'
import { openedLoop } from '../../session/views/loop-builder.ts'
import { linkChild, linkParent, type SpawnOrigin, sessionOfChild } from '../../session/views/navigation.ts'
import { type KeptEvents, LoopEvents } from './loop-events.ts'

/** What a recorder keeps, and whom it tells. Functions are called synchronously, at the end of the call that causes them; what they throw comes out of it. */
export interface EventRecorderOptions {
  /** Also keep `messageUpdate` events. Default `false`: they are many, and the finished messages say the same. */
  includeStreamingEvents?: boolean
  /** Keep what the model was sent, where events tell: as `requestPayload` of turns and as `turnRequest` events. Default `false`: neither. */
  captureTurnRequests?: boolean
  /** A session has begun. An observer: what it returns changes nothing. */
  beforeTask?: (session: Session) => unknown
  /** A session was closed by `flush`. */
  afterTask?: (session: Session) => unknown
  /** A copy of a session that has changed, from `checkpoint`. */
  onCheckpoint?: (session: Session) => unknown
}

interface TrackedSession {
  session: Session
  /** Changed since the last checkpoint. */
  isChanged: boolean
  isFlushed: boolean
}

const recorderOptions = optionsOf<EventRecorderOptions>({
  includeStreamingEvents: aFlag,
  captureTurnRequests: aFlag,
  beforeTask: aFunction,
  afterTask: aFunction,
  onCheckpoint: aFunction,
})

/**
 * Builds sessions from the events of any number of agents. For those who only have events: a session that is recorded live, into a store,
 * survives crashes and also knows what was compacted, pruned and reverted.
 *
 * **Contract**
 * - One session for each session id, in whatever order its events, checkpoints and flushes come; one loop for each run. Within a run `seq`
 *   counts up: an event that was accepted before is passed over, so that a stream may be replayed.
 * - Events of a loop that nobody began are passed over, except that a loop which a hook refused is kept where its session is known: with an
 *   `agentEnd` alone.
 * - Events inside `childEvent` build the sub-agent's session and are kept there. Parent and child name each other as soon as both are known.
 * - `parallelLoopStart` and `parallelLoopEnd` are kept with each branch; branches that have not begun are `pending`.
 * - Messages of a loop are those of its `agentEnd`; until then, and where it never comes, those of its `messageEnd` events.
 * - Sessions hold the messages of the events as they are; nothing is copied.
 *
 * Source: docs/reference/sessions.md
 *
 * @example
 * const recorder = new EventRecorder()
 * agent.subscribe((event) => recorder.accept(event))
 * await agent.prompt('Hello').result
 * for (const session of recorder.checkpoint()) await store.save(session)
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #kept: KeptEvents
  readonly #sessions = new Map<string, TrackedSession>()
  readonly #loops = new Map<string, LoopEvents>()
  readonly #open = new Set<LoopEvents>()
  /** Branches of sessions that have not begun, by session. */
  readonly #announced = new Map<string, ParallelLoopStartEvent[]>()
  /** Calls that name a loop nothing was heard of yet, by that loop. */
  readonly #callers = new Map<string, SpawnOrigin>()

  constructor(options: EventRecorderOptions = {}) {
    checkOptions(options, recorderOptions)
    this.#options = options
    this.#kept = { streaming: options.includeStreamingEvents === true, requests: options.captureTurnRequests === true }
  }

  /** Takes one event. */
  accept(event: AgentEvent): void {
    this.#take(event, undefined)
  }

  /** All sessions that were not drained, in the order they began. They grow while events come: copy what must not. */
  sessions(): Session[] {
    return [...this.#sessions.values()].map(({ session }) => session)
  }

  /** A session that was not drained. It grows while events come. */
  getSession(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId)?.session
  }

  /** The loop with this id while it runs; without an id, of those that run the one begun last. */
  currentLoop(loopId?: string): LoopRecord | undefined {
    const running = [...this.#open].map(({ record }) => record).filter((record) => record.status === 'running')
    return running.findLast((record) => loopId === undefined || record.loopId === loopId)
  }

  /** Copies of the sessions that have changed since the last checkpoint, with the loops that run as far as they are. Nothing is closed. */
  checkpoint(): Session[] {
    const changed = [...this.#sessions.values()].filter(({ isChanged }) => isChanged)
    for (const entry of changed) entry.isChanged = false
    const copies = changed.map(({ session }) => structuredClone(session))
    for (const copy of copies) this.#options.onCheckpoint?.(copy)
    return copies
  }

  /** Closes all sessions: loops without an end become `interrupted`, ended when the last was heard of them. A session may go on afterwards. */
  flush(): void {
    for (const loop of this.#open) {
      loop.interrupt()
      this.#changed(loop.record.sessionId)
    }
    this.#open.clear()
    this.#announced.clear()
    const closed = [...this.#sessions.values()].filter(({ isFlushed }) => !isFlushed)
    for (const entry of closed) entry.isFlushed = true
    for (const { session } of closed) this.#options.afterTask?.(session)
  }

  /** Hands over the sessions that `flush` closed, and forgets them. One that goes on after that would begin again. */
  drain(): Session[] {
    const drained = [...this.#sessions.values()].filter(({ isFlushed }) => isFlushed).map(({ session }) => session)
    for (const { sessionId, loops } of drained) {
      this.#sessions.delete(sessionId)
      for (const { loopId } of loops) {
        this.#loops.delete(loopId)
        this.#callers.delete(loopId)
      }
    }
    return drained
  }

  #take(event: AgentEvent, origin: SpawnOrigin | undefined): void {
    switch (event.type) {
      case 'childEvent':
        this.#takeChild(event)
        break
      case 'parallelLoopStart':
        this.#announce(event)
        break
      case 'parallelLoopEnd':
        this.#choose(event)
        break
      case 'agentStart':
        this.#start(event, origin)
        break
      default:
        this.#addToLoop(event)
    }
  }

  #takeChild({ loopId, toolCallId, toolName, event }: ChildEvent): void {
    const parent = this.#loops.get(loopId)?.record
    this.#take(event, parent && { parent, toolCallId, toolName })
  }

  #start(event: AgentStartEvent, origin: SpawnOrigin | undefined): void {
    const { loopId, sessionId } = event
    const known = this.#loops.get(loopId)
    if (known?.knows(event)) return
    const entry = this.#sessions.get(sessionId)
    const session = entry?.session ?? this.#begin(event)
    const announced = this.#loops.get(loopId)
    const loop = announced?.record.status === 'pending' ? announced : this.#addLoop(session, loopId, event.at)
    loop.start(event)
    session.lastActiveAt = event.at
    this.#changed(sessionId)
    this.#link(session, loop.record, origin)
    if (entry === undefined) this.#options.beforeTask?.(session)
    else entry.isFlushed = false
  }

  #begin({ sessionId, agentId, at }: AgentStartEvent): Session {
    const formation = { type: 'firstLoop' as const, at }
    const session: Session = { sessionId, agentId, createdAt: at, lastActiveAt: at, formation, scope: 'ephemeral', loops: [] }
    this.#sessions.set(sessionId, { session, isChanged: true, isFlushed: false })
    for (const event of this.#announced.get(sessionId) ?? []) this.#announce(event)
    this.#announced.delete(sessionId)
    return session
  }

  #addLoop(session: Session, loopId: string, startedAt: number): LoopEvents {
    const { sessionId, agentId } = session
    const loop = new LoopEvents(openedLoop({ loopId, sessionId, agentId, startedAt }), this.#kept)
    session.loops.push(loop.record)
    this.#loops.set(loopId, loop)
    this.#open.add(loop)
    return loop
  }

  /** Ties a loop that has begun to its parent: one of the same session, or the call that runs it. */
  #link(session: Session, record: LoopRecord, origin: SpawnOrigin | undefined): void {
    const { loopId, sessionId, parentLoopId } = record
    const parent = parentLoopId === undefined ? undefined : this.#loops.get(parentLoopId)?.record
    const isRoot = parent?.sessionId !== sessionId || parent === record
    if (parent !== undefined && !isRoot) parent.childrenLoopIds.push(loopId)
    const caller = origin ?? this.#callers.get(loopId)
    const spawn = caller ?? (parent && { parent, toolCallId: '', toolName: '' })
    if (spawn !== undefined && isRoot) linkParent(session, spawn)
    if (caller === undefined || !isRoot) return
    const { toolCallId, toolName } = caller
    linkChild(caller.parent, { toolCallId, toolName, childLoopId: loopId, childSessionId: sessionId })
    this.#changed(caller.parent.sessionId)
  }

  #addToLoop(event: AgentEvent): void {
    const loop = this.#loops.get(event.loopId) ?? (event.type === 'agentEnd' ? this.#refused(event) : undefined)
    if (loop === undefined || loop.knows(event)) return
    loop.accept(event)
    this.#changed(event.sessionId)
    if (!loop.isOpen) this.#open.delete(loop)
    if (event.type === 'toolExecutionEnd' && event.childLoopId !== undefined) {
      const { toolCallId, toolName, childLoopId } = event
      this.#linkCall({ parent: loop.record, toolCallId, toolName }, childLoopId)
    }
  }

  /** A loop that ended before it began: a hook said no. */
  #refused({ sessionId, loopId, at }: AgentEndEvent): LoopEvents | undefined {
    const session = this.getSession(sessionId)
    return session && this.#addLoop(session, loopId, at)
  }

  /** A call has ended and says which loop it ran; that loop may have ended before, or not be known at all. */
  #linkCall(caller: SpawnOrigin, childLoopId: string): void {
    const child = this.#loops.get(childLoopId)?.record
    const childSessionId = child?.sessionId ?? sessionOfChild(childLoopId)
    linkChild(caller.parent, { toolCallId: caller.toolCallId, toolName: caller.toolName, childLoopId, childSessionId })
    const session = this.getSession(child?.sessionId ?? '')
    if (session === undefined) this.#callers.set(childLoopId, caller)
    else linkParent(session, caller)
    this.#changed(childSessionId)
  }

  /** Branches are about to begin. Where their session is not known yet, they wait for it: only a loop says whose it is. */
  #announce(event: ParallelLoopStartEvent): void {
    const { sessionId, loopIds, at } = event
    const session = this.getSession(sessionId)
    if (session === undefined) {
      this.#announced.set(sessionId, [...(this.#announced.get(sessionId) ?? []), event])
      return
    }
    for (const loopId of loopIds) {
      if (this.#loops.has(loopId)) continue
      const loop = this.#addLoop(session, loopId, at)
      loop.record.status = 'pending'
      loop.keep(event)
    }
    this.#changed(sessionId)
  }

  #choose(event: ParallelLoopEndEvent): void {
    const { selectedLoopId, selectedConfigIndex, evaluationUsage, reason, sessionId } = event
    const choice = { selectedLoopId, selectedConfigIndex, evaluationUsage, ...(reason !== undefined && { reason }) }
    const selected = this.#loops.get(selectedLoopId)
    const allLoopIds = selected && groupOf(selected.record)
    for (const loopId of allLoopIds ?? []) {
      const loop = this.#loops.get(loopId)
      if (loop === undefined || loop.record.parallelGroup !== undefined) continue
      loop.record.parallelGroup = { allLoopIds: [...(allLoopIds ?? [])], ...choice, isSelected: loopId === selectedLoopId }
      loop.keep(event)
    }
    this.#changed(sessionId)
  }

  #changed(sessionId: string): void {
    const entry = this.#sessions.get(sessionId)
    if (entry !== undefined) entry.isChanged = true
  }
}

/** The branches a loop was announced with. */
function groupOf({ events }: LoopRecord): readonly string[] {
  const announcement = events.find(({ event }) => event.type === 'parallelLoopStart')?.event
  return announcement?.type === 'parallelLoopStart' ? announcement.loopIds : []
}
