import { type ReadonlySignal, signal } from '@preact/signals'
import { type AgentEvent, type AgentRun, type PendingApproval, textOf } from '../../../src/index.ts'
import type { AgentStartEvent } from '../../../src/loop/index.ts'
import type { LoopRecord, Session } from '../../../src/session/index.ts'
import { goesBack, type RunState, reduce, rewoundState, taken } from '../../../src/store/index.ts'
import { type Attachment, mediaOf, said } from './attachments.ts'
import type { ChatPort } from './chat-port.ts'
import { decide } from './conversation/decide.ts'
import { type Draft, draftOf } from './conversation/draft.ts'
import { feedbackOf, type Marking } from './conversation/feedback.ts'
import { everyFrame } from './conversation/frames.ts'
import { createQueue, type QueuedMessage } from './conversation/queue.ts'
import { chainOf, lastLoopOf, openedState, outlineOf } from './conversation-state.ts'
import type { Notices } from './desk/notices.ts'
import { EventLog } from './event-log.ts'
import type { Race, RunRace } from './race/race.ts'
import { createRaceRunner } from './race/race-runner.ts'
import type { Replay } from './replay-controls.ts'

/**
 * One conversation: what the page shows (signals), and what a person can do.
 *
 * **Contract**
 * - Nothing here throws or rejects: what fails is a notice of this conversation, or how its run ended.
 * - What is said leaves the draft when it is in the conversation or in its queue, and not before.
 */
export interface Conversation extends Marking {
  readonly chat: ChatPort
  /** Set where this is a recording that is played: nothing can be said then. */
  readonly replay?: Replay
  readonly sessionId: string
  /** The loop that the conversation ends with. */
  loopId: ReadonlySignal<string | undefined>
  state: ReadonlySignal<RunState>
  readonly log: EventLog
  /** The tree as it was recorded last; absent before anything was said. */
  record: ReadonlySignal<Session | undefined>
  /** What several configurations answer at once; absent while none do. */
  race: ReadonlySignal<Race | undefined>
  queued: ReadonlySignal<readonly QueuedMessage[]>
  readonly draft: Draft
  /** The draft is on its way: it is not in the conversation yet. */
  isSending: ReadonlySignal<boolean>
  /** Says the draft: begins a run, or steers the one that is on. `followUp` has it answered when that would otherwise end. Resolves with whether it was heard. */
  submit(kind: QueuedMessage['kind']): Promise<boolean>
  /** Says something else than the draft. What was not heard is put into the draft. */
  send(text: string, media?: readonly Attachment[]): Promise<boolean>
  /** Takes a message out of the queue, as long as nobody has heard it; says whether that came in time. Absent where nothing can be said. */
  withdraw?(message: QueuedMessage): Promise<boolean>
  abort(): void
  /** Stops what runs, wherever it does, and waits for its end. */
  stop(): Promise<void>
  /** Lets the call run that a card showed, and no other. */
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
  /** Has the model answer what a run that was broken off has left, or go on with an answer that was cut off. */
  goOn(): void
  /** Has the last question answered again. */
  regenerate(): void
  /** Tries again what failed: says the draft where it was not heard, else has the last question answered again. */
  retry(): void
  /** Says `text` instead of what was said in this message; its pictures and files stay. Resolves with whether it was heard. */
  editAndResend(messageId: string, text: string): Promise<boolean>
  compact(): void
  /** Makes room in what is sent, and has the last question answered again. */
  compactAndRetry(): void
  /** Has several configurations answer `prompt`. Resolves with the loop that was chosen; `undefined` where none was. */
  startRace(prompt: string, run: RunRace): Promise<string | undefined>
  refresh(): Promise<void>
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

/** Publishes what the agent of `chat` has said so far, and what it does from now on, once per frame. */
export function createConversation(chat: ChatPort, { notices, recorded, loopId }: Opening): Conversation {
  const { agent } = chat
  const { sessionId } = agent
  const log = new EventLog()
  // The events of the run that is on are heard from its beginning.
  const isOver = (loop: LoopRecord) => loop.loopId !== agent.currentRun?.loopId
  log.restore(recorded?.loops.filter(isOver) ?? [])
  let next = openedState(agent, recorded === undefined ? [] : chainOf(recorded, loopId).filter(isOver))
  const state = signal(next)
  const record = signal(recorded && outlineOf(recorded))
  const lastLoop = signal(loopId ?? (recorded && lastLoopOf(recorded)))
  const draft = draftOf(sessionId)
  const queue = createQueue(draft, { endsWithPage: chat.queued === undefined })
  const runner = createRaceRunner(log)
  const feedback = chat.shared && feedbackOf(chat.shared)
  const isSending = signal(false)
  /** The draft was to be said, and was not heard. */
  let isUnheard = false

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

  const attempt = <Value>(topic: string, failure: string, act: () => Value | Promise<Value>) =>
    notices.attempt({ topic, failure, sessionId }, act)

  async function deliver(kind: QueuedMessage['kind'], text: string, media: readonly Attachment[]): Promise<boolean> {
    const isHeard = await attempt('send', 'Not sent', () => {
      if (agent.currentRun === undefined) return taken(agent.send(said(text, media)))
      queue.add({ kind, text, media, receipt: agent[kind](said(text, media)) })
      return true
    })
    return isHeard ?? false
  }

  async function submit(kind: QueuedMessage['kind']): Promise<boolean> {
    const [text, media] = [draft.text.value.trim(), draft.attached.value]
    if (isSending.value || (text === '' && media.length === 0)) return false
    isSending.value = true
    const isHeard = await deliver(kind, text, media)
    isSending.value = false
    isUnheard = !isHeard
    if (!isHeard) return false
    draft.text.value = ''
    draft.attached.value = draft.attached.value.filter((block) => !media.includes(block))
    draft.refused.value = []
    return true
  }

  async function send(text: string, media: readonly Attachment[] = []): Promise<boolean> {
    const isHeard = await deliver('steer', text, media)
    if (!isHeard) draft.giveBack(text, media)
    return isHeard
  }

  async function editAndResend(messageId: string, text: string): Promise<boolean> {
    const message = agent.messages.find(({ id }) => id === messageId)
    const media = message?.role === 'user' ? mediaOf(message.content) : []
    return (await attempt('send', 'Not sent', () => taken(agent.editAndResend(messageId, said(text, media))))) ?? false
  }

  /** Begins a run that says nothing new. How it ends is told by its end. */
  const begin = (failure: string, start: () => AgentRun) => void attempt('run', failure, () => void start())

  const regenerate = () => begin('Not answered again', () => agent.regenerate())

  function goOn(): void {
    const last = agent.messages.at(-1)
    const isAnswered = last?.role === 'assistant' && last.stopReason !== 'error' && last.stopReason !== 'aborted'
    if (isAnswered) void send('Go on exactly where you stopped.')
    else begin('It did not go on', () => agent.continueLoop())
  }

  function compactAndRetry(): void {
    void attempt('run', 'No room was made', async () => {
      await agent.compact().result
      agent.regenerate()
    })
  }

  async function stop(): Promise<void> {
    runner.abort()
    const run = agent.currentRun
    agent.abort('stopped by the visitor')
    await run?.result
  }

  for (const receipt of chat.queued ?? []) {
    const { message, kind } = receipt
    if (message.role === 'user') queue.add({ kind, text: textOf(message.content), media: mediaOf(message.content), receipt })
  }

  return {
    chat,
    sessionId,
    loopId: lastLoop,
    state,
    log,
    record,
    race: runner.race,
    queued: queue.waiting,
    draft,
    marks: feedback?.marks,
    mark: (messageId, mark) => void attempt('mark', 'The answer was not marked', () => feedback?.mark(messageId, mark)),
    isSending,
    submit,
    send,
    withdraw: queue.withdraw,
    abort: () => void stop(),
    stop,
    approve: (request) => void attempt('decide', 'Not approved', () => decide(agent, request, (run, shown) => run.approve(shown))),
    deny: (request) =>
      void attempt('decide', 'Not denied', () => decide(agent, request, (run, shown) => run.deny(shown, 'The visitor said no.'))),
    goOn,
    regenerate,
    retry: () => (isUnheard && draft.text.value !== '' ? void submit('steer') : regenerate()),
    editAndResend,
    compact: () => begin('Not compacted', () => agent.compact()),
    compactAndRetry,
    async startRace(prompt, run) {
      const chosen = await attempt('race', 'The answers were not compared', () => runner.start(prompt, run))
      if (chosen === undefined) draft.giveBack(prompt, [])
      return chosen
    },
    async refresh() {
      await attempt('read', 'The tree of this conversation cannot be read', async () => {
        const now = await chat.recorded()
        record.value = now && outlineOf(now)
      })
    },
    async close() {
      runner.abort()
      await attempt('close', 'Not everything of this conversation was kept', () => chat.close())
      leave()
    },
  }
}
