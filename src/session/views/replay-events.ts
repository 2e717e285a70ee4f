import { raceAbort } from '../../base/abort.ts'
import { checkStore } from '../../base/argument-checks.ts'
import { startTimer } from '../../base/timer.ts'
import { SessionError } from '../../contract/errors.ts'
import { now } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { LoopRecord } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aNumberFromZero, aPositiveNumber, aSignal, aText, options as optionsOf } from '../../contract/shape/shape.ts'
import type { SessionStore } from '../../types/session/session-store.ts'

/** Options for `replayEvents`. */
export interface ReplayOptions {
  /** Id of the loop to replay. Default: all loops of the session, in start order. */
  loopId?: string
  /** Speed factor: 1 is real time, 10 is ten times faster. Default: no delays. */
  speed?: number
  /** Maximum delay between two events in milliseconds, for example during an approval. Default: unlimited. */
  maxPauseMs?: number
  /** Stops the replay, which rejects with the signal's reason. */
  signal?: AbortSignal
}

const replayOptions = optionsOf<ReplayOptions>({
  loopId: aText,
  speed: aPositiveNumber,
  maxPauseMs: aNumberFromZero,
  signal: aSignal,
})

/**
 * Yields a stored session's events in their original order, so that a client can show the run again.
 *
 * **Contract**
 * - Requires events stored by `withEvents` or an `EventRecorder`. A loop without stored events yields none.
 * - `at` and `seq` are the original values. With `speed`, events keep their timing relative to the first event, including the time that a
 *   slow reader takes.
 * - Rejects with the same errors as `store.load`, and with `notFound` for an unknown loop.
 *
 * Source: docs/concepts/sessions.md
 *
 * @example
 * ```ts
 * for await (const event of replayEvents(store, 's1', { speed: 10, maxPauseMs: 1000 })) view.accept(event)
 * ```
 */
export async function* replayEvents(
  store: Pick<SessionStore, 'load'>,
  sessionId: string,
  options: ReplayOptions = {},
): AsyncGenerator<AgentEvent, void, undefined> {
  checkStore(store, 'load')
  checkOptions(options, replayOptions)
  const { loopId, speed = Number.POSITIVE_INFINITY, maxPauseMs = Number.POSITIVE_INFINITY, signal } = options
  const { loops } = await store.load(sessionId)
  let due = now()
  let before: AgentEvent | undefined
  for (const { events } of chosen(loops, loopId, sessionId)) {
    for (const { event } of events) {
      const gap = before === undefined ? 0 : Math.max(event.at - before.at, 0)
      due += Math.min(gap / speed, maxPauseMs)
      before = event
      signal?.throwIfAborted()
      if (due > now()) await pause(due - now(), signal)
      yield event
    }
  }
}

function chosen(loops: readonly LoopRecord[], loopId: string | undefined, sessionId: string): readonly LoopRecord[] {
  const asked = loopId === undefined ? loops : loops.filter((loop) => loop.loopId === loopId)
  if (loopId === undefined || asked.length > 0) return asked
  throw new SessionError('notFound', `Session ${JSON.stringify(sessionId)} has no loop ${JSON.stringify(loopId.slice(0, 200))}.`)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let stop = (): void => undefined
  const over = new Promise<void>((resolve) => {
    stop = startTimer(ms, resolve)
  })
  try {
    await (signal === undefined ? over : raceAbort(over, signal))
  } finally {
    stop()
  }
}
