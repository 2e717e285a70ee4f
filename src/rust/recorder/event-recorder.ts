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

/**
 * Options and observers of a recorder. Functions are called synchronously at the end of the call that triggers them. Their errors are
 * thrown there.
 */
export interface EventRecorderOptions {
  /** Also keeps `messageUpdate` events. Default: `false`, because there are many of them, and finished messages have the same content. */
  includeStreamingEvents?: boolean
  /** Keeps captured requests, as `requestPayload` of turns and as `turnRequest` events. Default: `false`. */
  captureTurnRequests?: boolean
  /** Called when a session has begun. The return value is ignored. */
  beforeTask?: (session: Session) => unknown
  /** Called when `flush` has closed a session. */
  afterTask?: (session: Session) => unknown
  /** Called with a copy of each session that changed, by `checkpoint`. */
  onCheckpoint?: (session: Session) => unknown
}

interface TrackedSession {
  session: Session
  /** Whether the session has changed since the last checkpoint. */
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
 * Builds sessions from the events of any number of agents, for programs that only have events. A store that records live also survives
 * crashes and knows compactions, prunes and reverts.
 *
 * **Contract**
 * - Creates one session per session id, in any order of events, checkpoints and flushes, and one loop per run. Within a run `seq`
 *   increases: an event that was accepted before is ignored, so a stream may be replayed.
 * - Ignores events of a loop that never began. Exception: if a hook refused a loop of a known session, records the loop with only its
 *   `agentEnd`.
 * - Events inside `childEvent` build the sub-agent's session. Parent and child refer to each other as soon as both are known.
 * - Each branch keeps `parallelLoopStart` and `parallelLoopEnd`. Branches that have not begun are `pending`.
 * - Messages of a loop are those of its `agentEnd`. Until then, or without it, those of its `messageEnd` events.
 * - Sessions share the events' message objects, without copies.
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
  /** Calls that refer to an unknown loop, by loop. */
  readonly #callers = new Map<string, SpawnOrigin>()

  constructor(options: EventRecorderOptions = {}) {
    checkOptions(options, recorderOptions)
    this.#options = options
    this.#kept = { streaming: options.includeStreamingEvents === true, requests: options.captureTurnRequests === true }
  }

  /** Adds one event. */
  accept(event: AgentEvent): void {
    this.#take(event, undefined)
  }

  /** All sessions that were not drained, in start order. Further events change these sessions, so copy them if needed. */
  sessions(): Session[] {
    return [...this.#sessions.values()].map(({ session }) => session)
  }

  /** A session that was not drained. Further events change this session. */
  getSession(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId)?.session
  }

  /** The active loop with this id. Without an id, the active loop that began last. */
  currentLoop(loopId?: string): LoopRecord | undefined {
    const running = [...this.#open].map(({ record }) => record).filter((record) => record.status === 'running')
    return running.findLast((record) => loopId === undefined || record.loopId === loopId)
  }

  /** Copies the sessions that changed since the last checkpoint, with active loops in their current state. Closes nothing. */
  checkpoint(): Session[] {
    const changed = [...this.#sessions.values()].filter(({ isChanged }) => isChanged)
    for (const entry of changed) entry.isChanged = false
    const copies = changed.map(({ session }) => structuredClone(session))
    for (const copy of copies) this.#options.onCheckpoint?.(copy)
    return copies
  }

  /**
   * Closes all sessions: loops without an end become `interrupted`, with the time of their last event. A session may continue afterwards.
   */
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

  /** Returns the sessions that `flush` closed, and removes them. A session that continues afterwards is started again. */
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

  /** Links a new loop to its parent: a loop in the same session, or the call that runs the new loop. */
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

  /** A loop that ended before it began, because a hook refused it. */
  #refused({ sessionId, loopId, at }: AgentEndEvent): LoopEvents | undefined {
    const session = this.getSession(sessionId)
    return session && this.#addLoop(session, loopId, at)
  }

  /** Links a finished call to its loop, which may have ended before or be unknown. */
  #linkCall(caller: SpawnOrigin, childLoopId: string): void {
    const child = this.#loops.get(childLoopId)?.record
    const childSessionId = child?.sessionId ?? sessionOfChild(childLoopId)
    linkChild(caller.parent, { toolCallId: caller.toolCallId, toolName: caller.toolName, childLoopId, childSessionId })
    const session = this.getSession(child?.sessionId ?? '')
    if (session === undefined) this.#callers.set(childLoopId, caller)
    else linkParent(session, caller)
    this.#changed(childSessionId)
  }

  /** Announces branches. If their session is unknown, they are held until a loop in that session starts. */
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

/** Returns the branches that a loop was announced with. */
function groupOf({ events }: LoopRecord): readonly string[] {
  const announcement = events.find(({ event }) => event.type === 'parallelLoopStart')?.event
  return announcement?.type === 'parallelLoopStart' ? announcement.loopIds : []
}
