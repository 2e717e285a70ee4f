import { type ReadonlySignal, signal } from '@preact/signals'
import type { AgentEvent } from '../../../../src/index.ts'
import type { AgentStartEvent } from '../../../../src/loop.ts'
import type { LoopRecord, Session } from '../../../../src/session.ts'
import { goesBack, type RunState, reduce, rewoundState, type TextSmoothing } from '../../../../src/store.ts'
import type { TextPace } from '../../settings/settings.ts'
import type { ChatPort } from '../backend/chat-port.ts'
import { everyFrame } from '../frames.ts'
import { EventLog } from '../log/event-log.ts'
import type { Attempts } from '../notices/notices.ts'
import { chainOf, lastLoopOf, openedState, outlineOf } from './opened-state.ts'

/** A conversation's signals for the UI. */
export interface Heard {
  state: ReadonlySignal<RunState>
  readonly log: EventLog
  /** The last loop of the conversation. */
  loopId: ReadonlySignal<string | undefined>
  /** The recorded tree. Absent for an empty conversation. */
  record: ReadonlySignal<Session | undefined>
  /** Reads the tree again. */
  refresh(): Promise<void>
}

interface Earlier {
  pace: TextPace
  recorded: Session | undefined
  /** Position in its tree. Default: its end. */
  loopId: string | undefined
  attempt: Attempts
}

/** Publishes the state and events of the agent behind `chat`, at most once per frame, until `leave` is called. */
export function hear(chat: ChatPort, { pace, recorded, loopId, attempt }: Earlier): Heard & { leave: () => void } {
  const { agent } = chat
  const log = new EventLog()
  // Events of the current run are read from its beginning.
  const isOver = (loop: LoopRecord) => loop.loopId !== agent.currentRun?.loopId
  log.restore(recorded?.loops.filter(isOver) ?? [])
  let next = openedState(agent, recorded === undefined ? [] : chainOf(recorded, loopId).filter(isOver))
  const state = signal(next)
  const record = signal(recorded && outlineOf(recorded))
  const lastLoop = signal(loopId ?? (recorded && lastLoopOf(recorded)))

  let reveal: ReturnType<TextSmoothing> | undefined

  function show(): void {
    state.value = reveal?.shown(next) ?? next
    if (next.loopId !== undefined) lastLoop.value = next.loopId
    log.publish()
  }
  const publish = everyFrame(show)
  // Until its code is loaded, and if it is missing, text appears as it arrives.
  const load = async (unit: Exclude<TextPace, 'off'>) => {
    reveal = (await import('../../late/smooth-text.ts')).smoothText(unit)(show)
  }
  if (pace !== 'off') load(pace).catch(() => undefined)

  /** Returns what stays visible when a run starts. */
  function seenFrom({ continuationKind, parentLoopId }: AgentStartEvent): RunState {
    const last = next.loopId ?? lastLoop.value
    // Another process continued from another loop.
    if (last !== undefined && parentLoopId !== undefined && parentLoopId !== last) return openedState(agent, [])
    return goesBack(continuationKind) ? rewoundState(next, agent.messages) : next
  }

  const stop = agent.subscribe((event: AgentEvent) => {
    log.add(event)
    const before = event.type === 'agentStart' ? seenFrom(event) : next
    next = reduce(before, event)
    reveal?.holds(event, before, next)
    publish()
  })

  function leave(): void {
    stop()
    reveal?.release()
  }

  async function refresh(): Promise<void> {
    await attempt('read', 'Cannot read the tree of this conversation', async () => {
      const now = await chat.recorded()
      record.value = now && outlineOf(now)
    })
  }

  return { state, log, loopId: lastLoop, record, refresh, leave }
}
