import { PartialOutput } from '../base/json/partial-output.ts'
import { errorText, PhiError } from '../contract/errors.ts'
import type { JsonValue } from '../contract/json.ts'
import type { OutputForm } from '../contract/model/request-settings.ts'
import type { AgentEvent, AgentStartEvent } from '../contract/run/event.ts'
import { goesBack } from '../contract/run/run-facts.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, anObject, options as optionsOf, type Shape, withExpected } from '../contract/shape/shape.ts'
import type { ChatAgent } from '../types/run/chat-agent.ts'
import { reduce } from './reduce.ts'
import { restoredState, rewoundState, withAppended } from './restored-state.ts'
import type { TextSmoothing } from './smooth/smooth-text.ts'
import { initialState, type RunState } from './state.ts'

/** Options for `createStore`: when to notify listeners, the initial state, and the pace of streamed text. */
export interface StoreOptions {
  /** Schedules one call of `flush`. Default: `queueMicrotask`. In a browser, pass `requestAnimationFrame`. */
  schedule?: (flush: () => void) => void
  /**
   * Initial state, such as `restoredState(messages)` for a stored conversation. Default: the agent's conversation, or `initialState()`
   * without an agent.
   */
  initial?: RunState
  /**
   * Shows streamed text at an even pace, for example `smoothText('word')`. Text then updates once per animation frame, and `schedule`
   * applies to all other changes. Default: text appears as it arrives.
   */
  smooth?: TextSmoothing
}

/** Public type of the `smooth` option. */
export const aSmoothing: Shape = withExpected(aFunction, "smoothText('word'), smoothText('line') or smoothText(segmenter)")

/**
 * Stores the newest `RunState` and notifies listeners. Pass `subscribe`, `getSnapshot` and `getServerSnapshot` to React's
 * `useSyncExternalStore` in this order.
 */
export interface Store {
  /** Returns the published state: the same object until the next notification. */
  getSnapshot(): RunState
  /** Returns the initial state, always the same object, for server-side rendering and hydration. */
  getServerSnapshot(): RunState
  /**
   * Returns the streamed response as an unvalidated value if `responseFormat` requests JSON, like `run.partial()`. The value is stable
   * until the published state changes. `undefined` before the first value and for stored conversations.
   */
  getOutput(): JsonValue | undefined
  /** Calls `listener` after each published change and returns a function that unsubscribes. A listener must not throw. */
  subscribe(listener: () => void): () => void
  /** Adds one event and publishes it with the next batch. */
  dispatch(event: AgentEvent): void
  /** Adds all events of a run. Resolves when the run ends. If reading fails, rejects and sets `failure` in the state. */
  follow(source: AsyncIterable<AgentEvent>): Promise<void>
  /** Stops following the agent. */
  close(): void
}

/** The agent methods that a store uses. */
type Heard = Pick<ChatAgent, 'messages' | 'pendingApprovals' | 'pendingClientCalls' | 'currentRun' | 'subscribe'>

const storeOptions = optionsOf<StoreOptions>({ schedule: aFunction, initial: anObject, smooth: aSmoothing })

/**
 * Creates a framework-free store for user interfaces.
 *
 * **Contract**
 * - Changes the snapshot and notifies listeners at most once per batch of `options.schedule`, regardless of the number of events.
 * - Follows a local or remote agent until `close`: its conversation, the active run and later runs. When a run replaces messages, for
 *   example to regenerate a response, they are removed at its start.
 * - Follows a run, or events from a server, immediately. Events can be replayed from any cursor, because known events are ignored.
 * - Without an agent, a store follows one run at a time. Pass the conversation's next run when the last one has ended.
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
  let reveal = options.smooth?.(flush)

  function flush(): void {
    isScheduled = false
    const shown = reveal?.shown(next) ?? next
    if (published === shown) return
    published = shown
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
    const after = reduce(before, event)
    if (listeners.size > 0 && reveal?.holds(event, before, after)) next = after
    else set(after)
    output.take(event, before, after)
  }

  /** Publishes all text, without waiting for frames. */
  function showAll(): void {
    reveal?.release()
    set(next)
  }

  const store: Store = {
    getSnapshot: () => published,
    getOutput: () => output.of(published),
    getServerSnapshot: () => first,
    subscribe(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) showAll()
      }
    },
    dispatch: take,
    async follow(events) {
      try {
        for await (const event of events) take(event)
      } catch (error) {
        reveal?.release()
        set({ ...next, failure: { code: PhiError.isInstance(error) ? error.code : 'stream', message: errorText(error) } })
        throw error
      }
    },
    close() {
      stop?.()
      showAll()
      reveal = undefined
    },
  }
  const stop = agent && hear(agent, store)
  // Ignore the rejection, because the state contains the failure.
  if (source !== undefined && Symbol.asyncIterator in source) store.follow(source).catch(() => undefined)
  return store
}

/** The run's parsed output. Kept separate from the immutable state, because an incremental JSON parser is mutable. */
class StoreOutput {
  #form: OutputForm | undefined
  #output = new PartialOutput(() => this.#form)
  /** The last parsed output and the state that it was parsed from. */
  #shown: { state: RunState | undefined; value: JsonValue | undefined } = { state: undefined, value: undefined }

  /** `before` and `after` are the states around `event`. */
  take(event: AgentEvent, before: RunState, after: RunState): void {
    if (after === before) return // already known
    if (event.type === 'agentStart') {
      this.#form = event.configSnapshot.output
      this.#output = new PartialOutput(() => this.#form)
    }
    if (this.#form === undefined) return
    // Merged deltas cannot be split. The end of the message contains the whole text.
    const from = event.type === 'messageUpdate' && event.runId === before.runId ? event.fromSeq : undefined
    if (from !== undefined && from <= before.seq) this.#output.miss()
    else this.#output.take(event)
  }

  of(state: RunState): JsonValue | undefined {
    if (this.#shown.state !== state) this.#shown = { state, value: this.#form && this.#output.value }
    return this.#shown.value
  }
}

/** Reads the current run from its start, then later runs. Returns a function that stops reading. */
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
    // Ignore the current run's events, because `store.follow` reads them in order.
    else if (event.runId !== run?.id) waiting.push(event)
  })
}

/** Returns the messages that stay visible when a run starts. */
function leftOf(state: RunState, { continuationKind, parentLoopId }: AgentStartEvent, agent: Heard): RunState {
  if (goesBack(continuationKind)) return rewoundState(state, agent.messages)
  const isElsewhere = state.loopId !== undefined && parentLoopId !== undefined && parentLoopId !== state.loopId
  // Another process has continued the conversation, or earlier messages have become readable.
  return isElsewhere || (state.messages.length === 0 && agent.messages.length > 0)
    ? stateBeforeRun(agent)
    : withAppended(state, agent.messages)
}

/** Excludes the active run's messages, which its events contain. */
export function stateBeforeRun(agent: Heard): RunState {
  const { messages, currentRun } = agent
  const earlier = messages.filter((message) => message.role === 'extension' || message.turnId?.loopId !== currentRun?.loopId)
  return restoredState(currentRun === undefined ? messages : earlier, agent.pendingApprovals(), agent.pendingClientCalls())
}
