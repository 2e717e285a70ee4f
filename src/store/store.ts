import { PartialOutput } from '../base/json/partial-output.ts'
import { errorText, PhiError } from '../contract/errors.ts'
import type { JsonValue } from '../contract/json.ts'
import type { OutputForm } from '../contract/model/request-settings.ts'
import type { AgentEvent, AgentStartEvent } from '../contract/run/event.ts'
import { goesBack } from '../contract/run/run-facts.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, anObject, options as optionsOf } from '../contract/shape/shape.ts'
import type { ChatAgent } from '../types/run/chat-agent.ts'
import { reduce } from './reduce.ts'
import { restoredState, rewoundState } from './restored-state.ts'
import { initialState, type RunState } from './state.ts'

/** Options of `createStore`: when listeners are notified, and the initial state. */
export interface StoreOptions {
  /** Calls `flush` once, soon. Default: `queueMicrotask`; in a browser pass `requestAnimationFrame`. */
  schedule?: (flush: () => void) => void
  /**
   * Initial state, such as `restoredState(messages)` of a stored conversation. Default: the conversation of the agent, else
   * `initialState()`.
   */
  initial?: RunState
}

/**
 * Holds the newest `RunState` and notifies listeners. Pass `subscribe`, `getSnapshot` and `getServerSnapshot` to React's
 * `useSyncExternalStore` in this order.
 */
export interface Store {
  /** Returns the published state. The same object until the next notification. */
  getSnapshot(): RunState
  /** Returns the initial state, always the same object: for server-side rendering and hydration. */
  getServerSnapshot(): RunState
  /**
   * Returns the response as a value while it is streamed, if `responseFormat` asks for JSON: as `run.partial()`, unwrapped and
   * not validated. The value is stable until the published state changes; `undefined` before that and for stored conversations.
   */
  getOutput(): JsonValue | undefined
  /** Calls `listener` after each published change; returns how to stop. A listener must not throw. */
  subscribe(listener: () => void): () => void
  /** Adds one event. It is published with the next batch. */
  dispatch(event: AgentEvent): void
  /** Adds all events of a run. Resolves at its end; rejects if reading fails, which is then also `failure` of the state. */
  follow(source: AsyncIterable<AgentEvent>): Promise<void>
  /** Stops following the agent. */
  close(): void
}

/** Methods that a store needs of an agent. */
type Heard = Pick<ChatAgent, 'messages' | 'pendingApprovals' | 'pendingClientCalls' | 'currentRun' | 'subscribe'>

const storeOptions = optionsOf<StoreOptions>({ schedule: aFunction, initial: anObject })

/**
 * Creates a framework-free store for user interfaces.
 *
 * **Contract**
 * - The snapshot changes and listeners run at most once per batch of `options.schedule`, however many events arrive.
 * - Follows an agent, here or on a server (`remoteSession`), until `close`: its conversation, the active run, and each later run.
 *   Messages that a run replaces, as a regenerated response does, are removed when it begins.
 * - Follows a run, or events from a server, at once. Replay from any cursor is safe: known events are ignored.
 * - Without an agent a store follows one run at a time. Pass the next run of the same conversation when the last one has ended.
 */
export function createStore(source?: AsyncIterable<AgentEvent> | Heard, options: StoreOptions = {}): Store {
  checkOptions(options, storeOptions)
  const schedule = options.schedule ?? queueMicrotask
  const listeners = new Set<() => void>()
  const agent = source === undefined || Symbol.asyncIterator in source ? undefined : source
  let next = options.initial ?? (agent === undefined ? initialState() : stateBeforeRun(agent))
  const first = next
  let published = first
  let isScheduled = false
  const output = new StoreOutput()

  function flush(): void {
    isScheduled = false
    if (published === next) return
    published = next
    for (const listener of [...listeners]) listener()
  }

  function set(state: RunState): void {
    next = state
    if (isScheduled || next === published) return
    isScheduled = true
    schedule(flush)
  }

  function take(event: AgentEvent): void {
    const before = event.type === 'agentStart' && agent !== undefined && event.runId !== next.runId ? leftOf(next, event, agent) : next
    set(reduce(before, event))
    output.take(event, before, next)
  }

  const store: Store = {
    getSnapshot: () => published,
    getOutput: () => output.of(published),
    getServerSnapshot: () => first,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    dispatch: take,
    async follow(events) {
      try {
        for await (const event of events) take(event)
      } catch (error) {
        set({ ...next, failure: { code: PhiError.isInstance(error) ? error.code : 'stream', message: errorText(error) } })
        throw error
      }
    },
    close: () => stop?.(),
  }
  const stop = agent && hear(agent, store)
  // The failure is part of the state; it has no other recipient.
  if (source !== undefined && Symbol.asyncIterator in source) store.follow(source).catch(() => undefined)
  return store
}

/** The parsed output of the run, separate from the state: a JSON parser continues where it was, which an immutable state cannot. */
class StoreOutput {
  #form: OutputForm | undefined
  #output = new PartialOutput(() => this.#form)
  /** The last parsed output, and its state. */
  #shown: { state: RunState | undefined; value: JsonValue | undefined } = { state: undefined, value: undefined }

  /** `before` and `after` are the states around `event`. */
  take(event: AgentEvent, before: RunState, after: RunState): void {
    if (after === before) return // known already
    if (event.type === 'agentStart') {
      this.#form = event.configSnapshot.output
      this.#output = new PartialOutput(() => this.#form)
    }
    if (this.#form === undefined) return
    // Joined deltas cannot be cut: the end of the message has the whole text.
    const from = event.type === 'messageUpdate' && event.runId === before.runId ? event.fromSeq : undefined
    if (from !== undefined && from <= before.seq) this.#output.miss()
    else this.#output.take(event)
  }

  of(state: RunState): JsonValue | undefined {
    if (this.#shown.state !== state) this.#shown = { state, value: this.#form && this.#output.value }
    return this.#shown.value
  }
}

/** Reads the current run from its start, then later ones; returns a function that stops. */
function hear(agent: Heard, store: Pick<Store, 'dispatch' | 'follow'>): () => void {
  const run = agent.currentRun
  let waiting: AgentEvent[] | undefined = run && []
  if (run !== undefined) {
    const goOn = () => {
      for (const event of waiting ?? []) store.dispatch(event)
      waiting = undefined
    }
    store.follow(run).then(goOn, goOn)
  }
  return agent.subscribe((event) => {
    if (waiting === undefined) store.dispatch(event)
    // Its own events are read in order.
    else if (event.runId !== run?.id) waiting.push(event)
  })
}

/** Returns what stays visible when a run starts. */
function leftOf(state: RunState, { continuationKind, parentLoopId }: AgentStartEvent, agent: Heard): RunState {
  if (goesBack(continuationKind)) return rewoundState(state, agent.messages)
  const isElsewhere = state.loopId !== undefined && parentLoopId !== undefined && parentLoopId !== state.loopId
  // Another process has continued, or earlier messages became readable only now.
  return isElsewhere || (state.messages.length === 0 && agent.messages.length > 0) ? stateBeforeRun(agent) : state
}

/** Without what the run that is on has said: its events tell that. */
export function stateBeforeRun(agent: Heard): RunState {
  const { messages, currentRun } = agent
  const earlier = messages.filter((message) => message.role === 'extension' || message.turnId?.loopId !== currentRun?.loopId)
  return restoredState(currentRun === undefined ? messages : earlier, agent.pendingApprovals(), agent.pendingClientCalls())
}
