import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { type AgentEvent, type AgentRun, type PendingApproval, type Receipt, textOf } from '../../../src/index.ts'
import type { AgentStartEvent, ApprovalRef } from '../../../src/loop/index.ts'
import type { LoopRecord, Session } from '../../../src/session/index.ts'
import { goesBack, type RunState, reduce, rewoundState } from '../../../src/store/index.ts'
import { type Attachment, mediaOf, said } from './attachments.ts'
import type { ChatPort } from './chat-port.ts'
import { chainOf, lastLoopOf, openedState, outlineOf } from './conversation-state.ts'
import { EventLog } from './event-log.ts'
import { createRace, type Race, type RunRace } from './race/race.ts'
import type { Replay } from './replay-controls.ts'

/** A message that waits for the run to take it. */
export interface QueuedMessage {
  id: string
  kind: 'steer' | 'followUp'
  text: string
  media: readonly Attachment[]
  receipt: Receipt
}

/** One conversation: what the page shows (signals), and what a person can do. */
export interface Conversation {
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
  /** What the composer holds; messages that an abort gave back are put into it. */
  draft: Signal<string>
  /** Pictures and files that go with the draft. */
  attached: Signal<readonly Attachment[]>
  /** Why other files do not, or why what was attached was not sent. */
  refused: Signal<readonly string[]>
  /** Starts a run, or steers the one that is going on. Throws `ConfigError` for a picture or a file that no service takes. */
  send(text: string, media?: readonly Attachment[]): void
  /** Has `text` answered when the run would otherwise end. Throws as `send`. */
  followUp(text: string, media?: readonly Attachment[]): void
  abort(): void
  /** Stops what runs, wherever it does, and waits for its end. */
  stop(): Promise<void>
  /** Takes a message out of the queue, as long as nobody has heard it; says whether that came in time. Absent where nothing can be said. */
  withdraw?(message: QueuedMessage): Promise<boolean>
  /** Lets the call run that a card showed, and no other. */
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
  /** Has the model answer what a run that was broken off has left. */
  goOn(): void
  /** Has the last question answered again. */
  regenerate(): void
  /** Says `text` instead of what was said in this message; its pictures and files stay. */
  editAndResend(messageId: string, text: string): void
  compact(): void
  /** Has several configurations answer `prompt`. Resolves with the loop that was chosen: open the conversation there. */
  startRace(prompt: string, run: RunRace): Promise<string>
  refresh(): Promise<void>
  /** Lets it go: what runs in this tab is stopped, what runs elsewhere goes on. */
  close(): Promise<void>
}

/** Publishes what the agent of `chat` has said so far, and what it does from now on, once per frame. */
export function createConversation(chat: ChatPort, recorded: Session | undefined, loopId?: string): Conversation {
  const { agent } = chat
  const log = new EventLog()
  // The events of the run that is on are heard from its beginning.
  const isOver = (loop: LoopRecord) => loop.loopId !== agent.currentRun?.loopId
  log.restore(recorded?.loops.filter(isOver) ?? [])
  let next = openedState(agent, recorded === undefined ? [] : chainOf(recorded, loopId).filter(isOver))
  let isScheduled = false
  const state = signal(next)
  const record = signal(recorded && outlineOf(recorded))
  const lastLoop = signal(loopId ?? (recorded && lastLoopOf(recorded)))
  const queued = signal<readonly QueuedMessage[]>([])
  const race = signal<Race | undefined>(undefined)
  let racing: AbortController | undefined
  const withdrawn = new Set<string>()
  const draft = signal('')
  const attached = signal<readonly Attachment[]>([])
  const refused = signal<readonly string[]>([])

  function publish(): void {
    isScheduled = false
    state.value = next
    if (next.loopId !== undefined) lastLoop.value = next.loopId
    log.publish()
  }

  /** What is left in sight when a run begins. */
  function seenFrom({ continuationKind, parentLoopId }: AgentStartEvent): RunState {
    const last = next.loopId ?? lastLoop.value
    // Somebody else has gone on from another loop.
    if (last !== undefined && parentLoopId !== undefined && parentLoopId !== last) return openedState(agent, [])
    return goesBack(continuationKind) ? rewoundState(next, agent.messages) : next
  }

  function hear(event: AgentEvent): void {
    log.add(event)
    next = reduce(event.type === 'agentStart' ? seenFrom(event) : next, event)
    if (isScheduled) return
    isScheduled = true
    nextFrame(publish)
  }

  async function refresh(): Promise<void> {
    const now = await chat.recorded()
    record.value = now && outlineOf(now)
  }

  const leave = agent.subscribe(hear)

  async function queue(
    kind: QueuedMessage['kind'],
    { text, media }: Pick<QueuedMessage, 'text' | 'media'>,
    receipt: Receipt,
  ): Promise<void> {
    const entry = { id: receipt.message.id, kind, text, media, receipt }
    queued.value = [...queued.value, entry]
    const outcome = await receipt.settled
    queued.value = queued.value.filter((other) => other !== entry)
    if (outcome !== 'returned' || withdrawn.delete(entry.id)) return
    draft.value = draft.value === '' ? text : `${text}\n${draft.value}`
    attached.value = [...media, ...attached.value]
  }

  function send(text: string, media: readonly Attachment[] = []): void {
    if (agent.currentRun === undefined) agent.send(said(text, media))
    else void queue('steer', { text, media }, agent.steer(said(text, media)))
  }

  function followUp(text: string, media: readonly Attachment[] = []): void {
    if (agent.currentRun === undefined) send(text, media)
    else void queue('followUp', { text, media }, agent.followUp(said(text, media)))
  }

  function editAndResend(messageId: string, text: string): void {
    const message = agent.messages.find(({ id }) => id === messageId)
    agent.editAndResend(messageId, said(text, message?.role === 'user' ? mediaOf(message.content) : []))
  }

  async function withdraw({ id, receipt }: QueuedMessage): Promise<boolean> {
    withdrawn.add(id)
    receipt.withdraw()
    return (await receipt.settled) === 'returned'
  }

  function decide(request: PendingApproval, answer: (run: AgentRun, request: ApprovalRef) => void): void {
    const run = agent.currentRun
    if (run !== undefined) {
      // A second click finds nothing.
      if (run.pendingApprovals().some((pending) => isSame(pending, request))) answer(run, request)
      return
    }
    // Asked for before this page was loaded: it is asked for again, and this is the answer to the same request.
    const resumed = agent.continueLoop()
    const stop = resumed.subscribe((event) => {
      if (event.type !== 'approvalRequested' || !isSame(event, request)) return
      stop()
      answer(resumed, event)
    })
  }

  async function startRace(prompt: string, run: RunRace): Promise<string> {
    racing = new AbortController()
    const { race: ofNow, accept, publish: show, end } = createRace(prompt)
    const leaveRace = ofNow.subscribe((value) => {
      race.value = value
    })
    let isWaiting = false
    const emit = (event: AgentEvent) => {
      log.add(event)
      accept(event)
      if (isWaiting) return
      isWaiting = true
      nextFrame(() => {
        isWaiting = false
        show()
        log.publish()
      })
    }
    try {
      return await run(prompt, emit, racing.signal)
    } finally {
      end()
      leaveRace()
    }
  }

  async function stop(): Promise<void> {
    racing?.abort()
    const run = agent.currentRun
    agent.abort('stopped by the visitor')
    await run?.result
  }

  async function close(): Promise<void> {
    racing?.abort()
    await chat.close()
    leave()
  }

  for (const receipt of chat.queued ?? []) {
    const { message } = receipt
    if (message.role === 'user') void queue(receipt.kind, { text: textOf(message.content), media: mediaOf(message.content) }, receipt)
  }

  return {
    chat,
    sessionId: agent.sessionId,
    loopId: lastLoop,
    state,
    log,
    record,
    race,
    startRace,
    queued,
    draft,
    attached,
    refused,
    send,
    followUp,
    withdraw,
    refresh,
    stop,
    close,
    approve: (request) => decide(request, (run, shown) => run.approve(shown)),
    deny: (request) => decide(request, (run, shown) => run.deny(shown, 'The visitor said no.')),
    goOn: () => void agent.continueLoop(),
    regenerate: () => void agent.regenerate(),
    editAndResend,
    compact: () => void agent.compact(),
    abort: () => void stop(),
  }
}

function isSame(a: PendingApproval, b: PendingApproval): boolean {
  return a.toolCallId === b.toolCallId && a.argumentsHash === b.argumentsHash && a.subAgent?.loopId === b.subAgent?.loopId
}

/** Frames stop in a hidden tab; the agent does not. */
function nextFrame(flush: () => void): void {
  if (document.visibilityState === 'hidden') setTimeout(flush, 250)
  else requestAnimationFrame(flush)
}
