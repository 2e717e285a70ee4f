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

/** What the page shows of a conversation. */
export interface Heard {
  state: ReadonlySignal<RunState>
  readonly log: EventLog
  /** The loop that the conversation ends with. */
  loopId: ReadonlySignal<string | undefined>
  /** The tree as it was recorded last; absent before anything was said. */
  record: ReadonlySignal<Session | undefined>
  /** Reads the tree again. */
  refresh(): Promise<void>
}

interface Earlier {
  recorded: Session | undefined
  /** Where in its tree; by default where it ends. */
  loopId: string | undefined
  attempt: Attempts
}

/** Publishes what the agent of `chat` has said so far, and what it does from now on until `leave`, once per frame. */
export function hear(chat: ChatPort, { recorded, loopId, attempt }: Earlier): Heard & { leave: () => void } {
  const { agent } = chat
  const log = new EventLog()
  // The events of the run that is on are heard from its beginning.
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

  /** What is left in sight when a run begins. */
  function seenFrom({ continuationKind, parentLoopId }: AgentStartEvent): RunState {
    const last = next.loopId ?? lastLoop.value
    // Somebody else has gone on from another loop.
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
