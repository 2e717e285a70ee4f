import type { ReadonlySignal } from '@preact/signals'
import type { Session } from '../../../../src/session.ts'
import type { TextPace } from '../../settings/settings.ts'
import type { ChatPort } from '../backend/chat-port.ts'
import type { Attempts, Notices } from '../notices/notices.ts'
import type { Race, RunRace } from '../race/race.ts'
import { createRaceRunner } from '../race/race-runner.ts'
import { createMarking, type Marking } from './feedback.ts'
import { type Heard, hear } from './hear.ts'
import type { Replay } from './replay-controls.ts'
import { createRuns, type Runs } from './runs.ts'
import { createSpeech, type Speech } from './speech.ts'

/**
 * One conversation: its signals for the UI, and its actions: send, start and stop runs, rate responses.
 *
 * **Contract**
 * - Never throws or rejects. A failure becomes a notice in this conversation, or ends its run.
 * - Text stays in the draft until it is in the conversation or its queue.
 */
export interface Conversation extends Heard, Speech, Runs, Marking {
  readonly chat: ChatPort
  readonly sessionId: string
  /** Set for a replayed recording, in which sending is disabled. */
  readonly replay?: Replay
  /** The current race of several configurations, if any. */
  race: ReadonlySignal<Race | undefined>
  /** Lets several configurations respond to `prompt`. Resolves with the selected loop, or `undefined`. */
  startRace(prompt: string, run: RunRace): Promise<string | undefined>
  abort(): void
  /** Stops local and remote runs, and waits until they have ended. */
  stop(): Promise<void>
  /** Closes the conversation. Local runs stop, and remote runs continue. */
  close(): Promise<void>
}

/** Options for an opened conversation. */
export interface Opening {
  notices: Notices
  pace: TextPace
  recorded?: Session | undefined
  /** Position in its tree. Default: its end. */
  loopId?: string | undefined
}

export function createConversation(chat: ChatPort, { notices, pace, recorded, loopId }: Opening): Conversation {
  const { sessionId } = chat.agent
  const attempt: Attempts = (topic, failure, act) => notices.attempt({ topic, failure, sessionId }, act)
  const { leave, ...heard } = hear(chat, { pace, recorded, loopId, attempt })
  const speech = createSpeech(chat, attempt)
  const runs = createRuns(chat, speech, attempt)
  const runner = createRaceRunner(heard.log)

  async function stop(): Promise<void> {
    runner.abort()
    const run = chat.agent.currentRun
    chat.agent.abort('stopped by the visitor')
    await run?.result
  }

  return {
    ...{ chat, sessionId },
    ...heard,
    ...speech,
    ...runs,
    ...createMarking(chat.shared, attempt),
    race: runner.race,
    async startRace(prompt, run) {
      const chosen = await attempt('race', 'The comparison failed', () => runner.start(prompt, run))
      if (chosen === undefined) speech.draft.giveBack(prompt, [])
      return chosen
    },
    abort: () => void stop(),
    stop,
    async close() {
      runner.abort()
      await attempt('close', 'Part of this conversation was not stored', () => chat.close())
      leave()
    },
  }
}
