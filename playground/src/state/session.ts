import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { AgentEvent, AgentRun, ApprovalRef, PendingApproval, Receipt, Session } from '../../../src/index.ts'
import { type RunState, reduce } from '../../../src/store/index.ts'
import type { ChatPort } from './chat-port.ts'
import { chainOf, openedState, outlineOf, rewoundState } from './conversation-state.ts'
import { EventLog } from './event-log.ts'
import { createRace, type Race, type RunRace } from './race.ts'
import type { Replay } from './replay-controls.ts'

/** A message that waits for the run to take it. */
export interface QueuedMessage {
  id: string
  kind: 'steer' | 'followUp'
  text: string
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
  /** Starts a run, or steers the one that is going on. */
  send(text: string): void
  /** Has `text` answered when the run would otherwise end. */
  followUp(text: string): void
  abort(): void
  /** Takes a message out of the queue, as long as nobody has heard it. Absent where that cannot be done. */
  withdraw?(message: QueuedMessage): void
  /** Lets the call run that a card showed, and no other. */
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
  /** Has the model answer what a run that was broken off has left. */
  goOn(): void
  /** Has the last question answered again. */
  regenerate(): void
  /** Says `text` instead of what was said in this message. */
  editAndResend(messageId: string, text: string): void
  compact(): void
  /** Has several configurations answer `prompt`. Resolves with the loop that was chosen: open the conversation there. */
  startRace(prompt: string, run: RunRace): Promise<string>
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Publishes what the agent of `chat` has said so far, and what it does from now on, once per frame. */
export function createConversation(chat: ChatPort, recorded: Session | undefined, loopId?: string): Conversation {
  const { agent } = chat
  const log = new EventLog()
  log.restore(recorded?.loops ?? [])
  let next = openedState(agent, recorded === undefined ? [] : chainOf(recorded, loopId))
  let isScheduled = false
  const state = signal(next)
  const record = signal(recorded && outlineOf(recorded))
  const lastLoop = signal(loopId ?? recorded?.loops.at(-1)?.loopId)
  const queued = signal<readonly QueuedMessage[]>([])
  const race = signal<Race | undefined>(undefined)
  let racing: AbortController | undefined
  const withdrawn = new Set<string>()
  const draft = signal('')

  function publish(): void {
    isScheduled = false
    state.value = next
    if (next.loopId !== undefined) lastLoop.value = next.loopId
    log.publish()
  }

  function hear(event: AgentEvent): void {
    log.add(event)
    const goesBack = event.type === 'agentStart' && ['rerun', 'branch'].includes(event.continuationKind.kind)
    next = reduce(goesBack ? rewoundState(next, agent.messages) : next, event)
    if (isScheduled) return
    isScheduled = true
    nextFrame(publish)
  }

  async function refresh(): Promise<void> {
    const now = await chat.recorded()
    record.value = now && outlineOf(now)
  }

  const leave = agent.subscribe(hear)

  async function queue(kind: QueuedMessage['kind'], text: string, receipt: Receipt): Promise<void> {
    const entry = { id: receipt.message.id, kind, text }
    queued.value = [...queued.value, entry]
    const outcome = await receipt.settled
    queued.value = queued.value.filter((other) => other !== entry)
    if (outcome === 'returned' && !withdrawn.delete(entry.id)) draft.value = draft.value === '' ? text : `${text}\n${draft.value}`
  }

  function send(text: string): void {
    if (agent.currentRun === undefined) agent.send(text)
    else void queue('steer', text, agent.steer(text))
  }

  function followUp(text: string): void {
    if (agent.currentRun === undefined) send(text)
    else void queue('followUp', text, agent.followUp(text))
  }

  /** A queue can only be emptied as a whole: the others are put back in their order. */
  function withdraw(message: QueuedMessage): void {
    const waiting = queued.value
    for (const { id } of waiting) withdrawn.add(id)
    chat.clearQueues?.()
    for (const { id, kind, text } of waiting) {
      if (id === message.id) continue
      if (kind === 'steer') send(text)
      else followUp(text)
    }
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

  async function close(): Promise<void> {
    racing?.abort()
    const run = agent.currentRun
    agent.abort('the conversation was closed')
    await run?.result
    leave()
    await chat.close()
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
    send,
    followUp,
    ...(chat.clearQueues !== undefined && { withdraw }),
    refresh,
    close,
    approve: (request) => decide(request, (run, shown) => run.approve(shown)),
    deny: (request) => decide(request, (run, shown) => run.deny(shown, 'The visitor said no.')),
    goOn: () => void agent.continueLoop(),
    regenerate: () => void agent.regenerate(),
    editAndResend: (messageId, text) => void agent.editAndResend(messageId, text),
    compact: () => void agent.compact(),
    abort: () => {
      racing?.abort()
      agent.abort('stopped by the visitor')
    },
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
