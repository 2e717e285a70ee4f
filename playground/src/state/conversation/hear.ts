import { type ReadonlySignal, signal } from '@preact/signals'
import type { AgentEvent } from '../../../../src/index.ts'
import type { AgentStartEvent } from '../../../../src/loop.ts'
import type { LoopRecord, Session } from '../../../../src/session.ts'
import { goesBack, type RunState, reduce, rewoundState } from '../../../../src/store.ts'
import type { ChatPort } from '../backend/chat-port.ts'
import { everyFrame } from '../frames.ts'
import { EventLog } from '../log/event-log.ts'
import type { Attempts } from '../notices/notices.ts'
import { chainOf, lastLoopOf, openedState, outlineOf } from './opened-state.ts'

/** Signals of a conversation for the UI. */
export interface Heard {
  state: ReadonlySignal<RunState>
  readonly log: EventLog
  /** The loop that the conversation ends with. */
  loopId: ReadonlySignal<string | undefined>
  /** The recorded tree; absent for an empty conversation. */
  record: ReadonlySignal<Session | undefined>
  /** Reads the tree again. */
  refresh(): Promise<void>
}

interface Earlier {
  recorded: Session | undefined
  /** Position in its tree; default: its end. */
  loopId: string | undefined
  attempt: Attempts
}

/** Publishes the state of the agent of `chat`, and its events until `leave`, once per frame. */
export function hear(chat: ChatPort, { recorded, loopId, attempt }: Earlier): Heard & { leave: () => void } {
  const { agent } = chat
  const log = new EventLog()
  // Events of the current run are read from its start.
  const isOver = (loop: LoopRecord) => loop.loopId !== agent.currentRun?.loopId
  log.restore(recorded?.loops.filter(isOver) ?? [])
  let next = openedState(agent, recorded === undefined ? [] : chainOf(recorded, loopId).filter(isOver))
  const state = signal(next)
  const record = signal(recorded && outlineOf(recorded))
  const lastLoop = signal(loopId ?? (recorded && lastLoopOf(recorded)))

  const publish = everyFrame(() => {
    state.value = next
    if (next.loopId !== undefined) lastLoop.value = next.loopId
    log.publish()
  })

  /** Returns what stays visible when a run starts. */
  function seenFrom({ continuationKind, parentLoopId }: AgentStartEvent): RunState {
    const last = next.loopId ?? lastLoop.value
    // Another process has continued from another loop.
    if (last !== undefined && parentLoopId !== undefined && parentLoopId !== last) return openedState(agent, [])
    return goesBack(continuationKind) ? rewoundState(next, agent.messages) : next
  }

  const leave = agent.subscribe((event: AgentEvent) => {
    log.add(event)
    next = reduce(event.type === 'agentStart' ? seenFrom(event) : next, event)
    publish()
  })

  async function refresh(): Promise<void> {
    await attempt('read', 'The tree of this conversation cannot be read', async () => {
      const now = await chat.recorded()
      record.value = now && outlineOf(now)
    })
  }

  return { state, log, loopId: lastLoop, record, refresh, leave }
}
