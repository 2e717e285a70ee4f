import type { ReadonlySignal } from '@preact/signals'
import type { Session } from '../../../../src/session.ts'
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
 * - Never throws or rejects: a failure is a notice of this conversation, or the end of its run.
 * - Text leaves the draft when it is in the conversation or in its queue, and not before.
 */
export interface Conversation extends Heard, Speech, Runs, Marking {
  readonly chat: ChatPort
  readonly sessionId: string
  /** Set for a replayed recording: sending is disabled. */
  readonly replay?: Replay
  /** A race of several configurations; absent without one. */
  race: ReadonlySignal<Race | undefined>
  /** Lets several configurations respond to `prompt`. Resolves with the selected loop; `undefined` without one. */
  startRace(prompt: string, run: RunRace): Promise<string | undefined>
  abort(): void
  /** Stops local and remote runs, and waits for their end. */
  stop(): Promise<void>
  /** Closes it: local runs stop, remote ones continue. */
  close(): Promise<void>
}

/** Options of an opened conversation. */
export interface Opening {
  notices: Notices
  recorded?: Session | undefined
  /** Position in its tree; default: its end. */
  loopId?: string | undefined
}

export function createConversation(chat: ChatPort, { notices, recorded, loopId }: Opening): Conversation {
  const { sessionId } = chat.agent
  const attempt: Attempts = (topic, failure, act) => notices.attempt({ topic, failure, sessionId }, act)
  const { leave, ...heard } = hear(chat, { recorded, loopId, attempt })
  const speech = createSpeech(chat, attempt)
  const runs = createRuns(chat.agent, speech, attempt)
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
      const chosen = await attempt('race', 'The answers were not compared', () => runner.start(prompt, run))
      if (chosen === undefined) speech.draft.giveBack(prompt, [])
      return chosen
    },
    abort: () => void stop(),
    stop,
    async close() {
      runner.abort()
      await attempt('close', 'Not everything of this conversation was kept', () => chat.close())
      leave()
    },
  }
}
