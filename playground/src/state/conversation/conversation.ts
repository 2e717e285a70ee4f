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
 * One conversation: what the page shows of it (signals), and what a person can do: say something, begin and end runs, mark answers.
 *
 * **Contract**
 * - Nothing here throws or rejects: what fails is a notice of this conversation, or how its run ended.
 * - What is said leaves the draft when it is in the conversation or in its queue, and not before.
 */
export interface Conversation extends Heard, Speech, Runs, Marking {
  readonly chat: ChatPort
  readonly sessionId: string
  /** Set where this is a recording that is played: nothing can be said then. */
  readonly replay?: Replay
  /** What several configurations answer at once; absent while none do. */
  race: ReadonlySignal<Race | undefined>
  /** Has several configurations answer `prompt`. Resolves with the loop that was chosen; `undefined` where none was. */
  startRace(prompt: string, run: RunRace): Promise<string | undefined>
  abort(): void
  /** Stops what runs, wherever it does, and waits for its end. */
  stop(): Promise<void>
  /** Lets it go: what runs in this tab is stopped, what runs elsewhere goes on. */
  close(): Promise<void>
}

/** What a conversation is opened with. */
export interface Opening {
  notices: Notices
  recorded?: Session | undefined
  /** Where in its tree; by default where it ends. */
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
