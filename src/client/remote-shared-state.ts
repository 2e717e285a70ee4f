import { isEqualJson } from '../base/json/json-value.ts'
import type { JsonObject } from '../contract/json.ts'
import { newId } from '../contract/message/identity.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import { type PatchOperation, type SavedState, savedState } from '../contract/session/shared-state.ts'
import { fits } from '../contract/shape/read.ts'
import { RemoteError } from './remote-error.ts'
import type { Wire } from './wire/wire.ts'

/**
 * Shared state of a session on a server.
 *
 * **Contract**
 * - `read` loads the state from the server. `set` and `patch` change the last known version and resolve with the result. They reject with
 *   `RemoteError`: `stateConflict` if another client changed the state first (`current` then contains that version), or `invalidState` if
 *   the value violates the schema. All reject with `notFound` if the session has no shared state.
 * - `subscribe` receives each version that this client reads, creates or gets from other clients' changes.
 *
 * Source: docs/guides/shared-state.md
 */
export interface RemoteSharedState {
  /** The newest known version. `undefined` before the first read. */
  readonly current: SavedState | undefined
  read(): Promise<SavedState>
  set(value: JsonObject): Promise<SavedState>
  patch(operations: readonly PatchOperation[]): Promise<SavedState>
  /** Calls `listener` with each later version. Returns a function that unsubscribes. */
  subscribe(listener: (state: SavedState) => void): () => void
}

/** See `RemoteSharedState` for the contract. */
export class LiveSharedState implements RemoteSharedState {
  readonly #wire: Wire
  /** Subscribes to events. Returns a function that unsubscribes. */
  readonly #listen: (listener: (event: AgentEvent) => void) => () => void
  /** Receives errors of background reads and of listeners. */
  readonly #warn: (error: unknown) => void
  readonly #listeners = new Set<(state: SavedState) => void>()
  #current: SavedState | undefined
  #leave: (() => void) | undefined
  /** Whether the application uses the state, so that missed versions must be loaded. */
  #wasAsked = false
  /** Whether the state changed during the current read. */
  #isOutdated = false
  #reading: Promise<void> | undefined

  constructor(wire: Wire, listen: (listener: (event: AgentEvent) => void) => () => void, warn: (error: unknown) => void) {
    this.#wire = wire
    this.#listen = listen
    this.#warn = warn
    wire.hearState((version) => this.#versionNotified(version))
  }

  get current(): SavedState | undefined {
    return this.#current
  }

  async read(): Promise<SavedState> {
    this.#wasAsked = true
    const known = this.#current
    const state = stateIn(await this.#wire.json({ method: 'GET', path: '/state' }))
    // If the server's version is older than the version known before the request, the session was recreated.
    if (known !== undefined && this.#current === known && isFromAnew(state, known)) this.#current = undefined
    return this.#learn(state)
  }

  set(value: JsonObject): Promise<SavedState> {
    return this.#change({ value })
  }

  patch(operations: readonly PatchOperation[]): Promise<SavedState> {
    return this.#change({ patch: operations.map((operation) => ({ ...operation })) })
  }

  subscribe(listener: (state: SavedState) => void): () => void {
    const own = (state: SavedState) => listener(state)
    this.#listeners.add(own)
    this.#leave ??= this.#listen((event) => this.#heard(event))
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.close()
    }
  }

  /** Events arrive from now on, so loads the changes made before. */
  opened(): void {
    if (this.#wasAsked && this.#listeners.size > 0) this.#readAgain()
  }

  close(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  async #change(change: JsonObject): Promise<SavedState> {
    const { version } = this.#current ?? (await this.read())
    try {
      // A retry must use the same key. Otherwise it would conflict with itself.
      const ask = { method: 'POST' as const, path: '/state', body: { ...change, ifVersion: version }, key: newId() }
      return this.#learn(stateIn(await this.#wire.json(ask)))
    } catch (error) {
      if (RemoteError.isInstance(error) && error.code === 'stateConflict') await this.read()
      throw error
    }
  }

  #heard(event: AgentEvent): void {
    if (event.type === 'sharedStateChanged') this.#versionNotified(event.version)
    // The stream may have missed changes made before it began.
    else if (event.type === 'agentStart') this.#readAgain()
  }

  /**
   * Handles the session's version. Any version other than the known one is new. A smaller version means that the session was recreated.
   */
  #versionNotified(version: number): void {
    if (this.#listeners.size > 0 && version !== this.#current?.version) this.#readAgain()
  }

  /** Reads again after the current request, whose response may be outdated. */
  #readAgain(): void {
    this.#isOutdated = true
    this.#reading ??= this.#readOn()
  }

  async #readOn(): Promise<void> {
    while (this.#isOutdated) {
      this.#isOutdated = false
      await this.read().catch((error: unknown) => this.#warn(error))
    }
    this.#reading = undefined
  }

  /** Ignores versions older than the known one, because they belong to earlier requests. */
  #learn(state: SavedState): SavedState {
    const known = this.#current
    if (known !== undefined && state.version <= known.version) return known
    this.#current = state
    for (const listener of [...this.#listeners]) {
      try {
        listener(state)
      } catch (error) {
        // An error in one listener must not affect the others.
        this.#warn(error)
      }
    }
    return state
  }
}

function isFromAnew({ version, value }: SavedState, known: SavedState): boolean {
  return version < known.version || (version === known.version && !isEqualJson(value, known.value))
}

function stateIn(answer: unknown): SavedState {
  if (fits(savedState, answer)) return answer
  throw new RemoteError('unexpectedAnswer', 'The response is not shared state. Check that server and client have the same version.')
}
