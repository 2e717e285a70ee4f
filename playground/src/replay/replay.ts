import { signal } from '@preact/signals'
import type { AgentEvent } from '../../../src/index.ts'
import { recordsOf, type Session, snapshotOf } from '../../../src/session.ts'
import { goesBack, initialState, type RunState, reduce, rewoundState } from '../../../src/store.ts'
import type { ModelFacts } from '../state/backend/chat-port.ts'
import type { Conversation } from '../state/conversation/conversation.ts'
import { draftOf } from '../state/conversation/draft.ts'
import type { Replay } from '../state/conversation/replay-controls.ts'
import { EventLog } from '../state/log/event-log.ts'
import { silentPort } from './silent-port.ts'
import { timelineOf } from './timeline.ts'

export const speeds = [1, 10] as const

/** A stored conversation as it was at any time. The panes show it like any other conversation, and nothing is sent. */
export function createReplay(session: Session, loopId: string | undefined, model: ModelFacts): Conversation & { replay: Replay } {
  const timeline = timelineOf(session, loopId)
  const { moments, length } = timeline
  const state = signal<RunState>(initialState())
  const shownLoop = signal<string | undefined>(undefined)
  const log = signal(new EventLog())
  const position = signal(0)
  const isPlaying = signal(false)
  const speed = signal<number>(1)
  let heard = 0
  let next = state.value
  let frame = 0

  function hear(event: AgentEvent): void {
    log.value.add(event)
    const isBack = event.type === 'agentStart' && goesBack(event.continuationKind)
    next = reduce(isBack ? rewoundState(next, beforeLoop(session, event.loopId)) : next, event)
  }

  function seek(to: number): void {
    position.value = Math.min(length, Math.max(0, to))
    if (heard > 0 && (moments[heard - 1]?.at ?? 0) > position.value) {
      // Events cannot be undone, so they are replayed from the beginning.
      heard = 0
      next = initialState()
      log.value = new EventLog()
    }
    for (let moment = moments[heard]; moment !== undefined && moment.at <= position.value; moment = moments[heard]) {
      hear(moment.event)
      heard += 1
    }
    state.value = next
    shownLoop.value = next.loopId
    log.value.publish()
  }

  function play(at = speed.value): void {
    pause()
    speed.value = at
    isPlaying.value = true
    if (position.value >= length) seek(0)
    let before = performance.now()
    const tick = (now: number) => {
      seek(position.value + (now - before) * speed.value)
      before = now
      if (position.value >= length) isPlaying.value = false
      else frame = requestAnimationFrame(tick)
    }
    frame = requestAnimationFrame(tick)
  }

  function pause(): void {
    cancelAnimationFrame(frame)
    isPlaying.value = false
  }

  function step(by: 1 | -1): void {
    pause()
    const times = moments.map(({ at }) => at)
    const to = by > 0 ? times.find((at) => at > position.value) : times.findLast((at) => at < position.value)
    if (to !== undefined) seek(to)
  }

  const nothing = () => undefined
  const unheard = async () => false
  return {
    ...{ chat: silentPort(session.sessionId, model), sessionId: session.sessionId, loopId: shownLoop, state },
    get log() {
      return log.value
    },
    ...{
      record: signal(session),
      race: signal(undefined),
      queued: signal([]),
      // Share the draft with the live conversation, so that unsent text is not lost.
      draft: draftOf(session.sessionId),
      isSending: signal(false),
    },
    ...{
      abort: pause,
      mark: nothing,
      approve: nothing,
      parametersOf: () => undefined,
      deny: nothing,
      answer: nothing,
      goOn: nothing,
      regenerate: nothing,
      retry: nothing,
      compact: nothing,
      compactAndRetry: nothing,
    },
    ...{ submit: unheard, send: unheard, editAndResend: unheard, isUnheard: () => false, startRace: async () => undefined },
    refresh: async () => undefined,
    stop: async () => pause(),
    close: async () => pause(),
    replay: { timeline, position, isPlaying, speed, play, pause, seek, step },
  }
}

/** Messages before a loop that returns to an earlier point. */
function beforeLoop(session: Session, loopId: string) {
  const own = new Set(session.loops.find((loop) => loop.loopId === loopId)?.messages.map(({ id }) => id))
  const records = recordsOf(session).map((record, at) => ({ ...record, at: record.at ?? 0, epoch: 1, seq: at + 1 }))
  return snapshotOf(records, { sessionId: session.sessionId, loopId }).messages.filter(({ id }) => !own.has(id))
}
