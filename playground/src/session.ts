import { type ReadonlySignal, signal } from '@preact/signals'
import type { Agent, AgentEvent, AgentRun, ApprovalRef, PendingApproval, Receipt } from '../../src/index.ts'
import { createStore, type RunState, restoredState } from '../../src/store/index.ts'

/** A message that waits for the run to take it. */
export interface QueuedMessage {
  id: string
  kind: 'steer' | 'followUp'
  text: string
}

/** One conversation: what the page shows (signals), and what a person can do. */
export interface Session {
  agent: Agent
  state: ReadonlySignal<RunState>
  /** The newest events, oldest first; at most `eventLimit`. */
  events: ReadonlySignal<readonly AgentEvent[]>
  queued: ReadonlySignal<readonly QueuedMessage[]>
  /** What the composer holds; messages that an abort gave back are put into it. */
  draft: { value: string }
  /** Starts a run, or steers the one that is going on. */
  send(text: string): void
  /** Has `text` answered when the run would otherwise end. */
  followUp(text: string): void
  abort(): void
  /** Lets the call run that a card showed, and no other. */
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
  /** Has the model answer what a run that was broken off has left. */
  goOn(): void
  /** Stops what runs, and lets other tabs write to the conversation. */
  close(): Promise<void>
}

/** How many events the timeline keeps. */
export const eventLimit = 500

/** Publishes what `agent` has said so far, and what it does in this tab, once per frame. */
export function createSession(agent: Agent): Session {
  const store = createStore(undefined, { schedule: nextFrame, initial: restoredState(agent.messages, agent.pendingApprovals()) })
  const log: AgentEvent[] = []
  const state = signal(store.getSnapshot())
  const events = signal<readonly AgentEvent[]>([])
  const queued = signal<readonly QueuedMessage[]>([])
  const draft = signal('')

  function publish(): void {
    state.value = store.getSnapshot()
    events.value = log.slice()
  }

  agent.subscribe((event) => {
    store.dispatch(event)
    log.push(frozen(event))
    if (log.length > eventLimit) log.shift()
  })
  store.subscribe(publish)

  async function queue(kind: QueuedMessage['kind'], text: string, receipt: Receipt): Promise<void> {
    const entry = { id: receipt.message.id, kind, text }
    queued.value = [...queued.value, entry]
    const outcome = await receipt.settled
    queued.value = queued.value.filter((other) => other !== entry)
    if (outcome === 'returned') draft.value = draft.value === '' ? text : `${text}\n${draft.value}`
  }

  function send(text: string): void {
    const run = agent.currentRun
    if (run === undefined) agent.prompt(text)
    else void queue('steer', text, run.steer(text))
  }

  function followUp(text: string): void {
    const run = agent.currentRun
    if (run === undefined) send(text)
    else void queue('followUp', text, run.followUp(text))
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
    const leave = resumed.subscribe((event) => {
      if (event.type !== 'approvalRequested' || !isSame(event, request)) return
      leave()
      answer(resumed, event)
    })
  }

  async function close(): Promise<void> {
    const run = agent.currentRun
    abort()
    await run?.result
    await agent.close()
  }

  const goOn = () => void agent.continueLoop()
  const approve = (request: PendingApproval) => decide(request, (run, shown) => run.approve(shown))
  const deny = (request: PendingApproval) => decide(request, (run, shown) => run.deny(shown, 'The visitor said no.'))
  const abort = () => agent.abort('stopped by the visitor')
  return { agent, state, events, queued, draft, send, followUp, abort, approve, deny, goOn, close }
}

function isSame(a: PendingApproval, b: PendingApproval): boolean {
  return a.toolCallId === b.toolCallId && a.argumentsHash === b.argumentsHash && a.subAgent?.loopId === b.subAgent?.loopId
}

/** The event as it is now: an assistant message that begins is a live view, which would show its own future. */
function frozen(event: AgentEvent): AgentEvent {
  return event.type === 'messageStart' || (event.type === 'childEvent' && event.event.type === 'messageStart')
    ? structuredClone(event)
    : event
}

/** Frames stop in a hidden tab; the agent does not. */
function nextFrame(flush: () => void): void {
  if (document.visibilityState === 'hidden') setTimeout(flush, 250)
  else requestAnimationFrame(flush)
}
