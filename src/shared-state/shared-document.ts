import { argumentsHash } from '../base/hash.ts'
import { copyJson } from '../base/json/json-value.ts'
import { ConfigError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { PatchOperation, PatchStep, SavedState, StateAuthor, StateChange } from '../contract/session/shared-state.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aText, oneOf, options as optionsOf, wholeFrom } from '../contract/shape/shape.ts'
import type {
  SessionState,
  SharedState,
  StateChangeNotification,
  StateChangeOptions,
  StateRecorder,
} from '../types/session/shared-state.ts'

/** Maximum diffs between two full records: a log is read from the last full one. */
const wholeEvery = 50

/** Rules for new versions. */
export interface VersionRules {
  readonly initial: JsonObject
  /** Returns a validated copy of `next`. Rejects with `ConfigError` `invalidState`. */
  checked(next: unknown): Promise<JsonObject>
  /** Returns the validated result of a patch to `current`. */
  patched(current: JsonObject, operations: readonly PatchOperation[]): Promise<JsonObject>
  /** Returns the diff: empty if nothing changed, `undefined` if the full state is much shorter. */
  diff(before: JsonObject, after: JsonObject): PatchStep[] | undefined
}

type Author = { by: StateAuthor; toolCallId?: string }
type Next = (current: JsonObject) => Promise<JsonObject>

const changeOptions = optionsOf<StateChangeOptions>({
  ifVersion: wholeFrom(0),
  by: oneOf('application', 'client'),
  idempotencyKey: aText,
})

/** The shared state of one session in memory. Each version is recorded before it becomes visible. */
export class SharedDocument implements SessionState {
  readonly #rules: VersionRules
  readonly #recorder: StateRecorder
  readonly #listeners = new Set<(change: StateChangeNotification) => void>()
  #saved: SavedState
  /** Serializes changes. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Id of the session whose log holds the full record that this version builds on. */
  #wholeIn: string | undefined

  constructor(rules: VersionRules, recorder: StateRecorder) {
    this.#rules = rules
    this.#recorder = recorder
    this.#saved = { version: 0, value: frozen(copyJson(rules.initial)) }
  }

  get value(): JsonObject {
    return this.#saved.value
  }

  get version(): number {
    return this.#saved.version
  }

  become({ version, value }: SavedState = { version: 0, value: this.#rules.initial }, isRecorded: boolean): void {
    this.#saved = { version, value: frozen(copyJson(value)) }
    this.#wholeIn = isRecorded ? this.#recorder.sessionId() : undefined
  }

  begin(recorder: StateRecorder): SharedDocument {
    const next = new SharedDocument(this.#rules, recorder)
    next.become(this.#saved, false)
    return next
  }

  async recordIfNew(): Promise<void> {
    const { version, value } = this.#saved
    if (this.#wholeIn === this.#recorder.sessionId()) return
    await this.#record({ version, by: 'application' }, value)
  }

  set(next: JsonObject | ((current: JsonObject) => JsonObject), options?: StateChangeOptions): Promise<number> {
    return this.#set(next, options)
  }

  patch(operations: readonly PatchOperation[], options?: StateChangeOptions): Promise<number> {
    return this.#patch(operations, options)
  }

  subscribe(listener: (change: StateChangeNotification) => void): () => void {
    // A wrapper, because the same function may subscribe twice.
    const own = (change: StateChangeNotification) => listener(change)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  ofCall(toolCallId: string, assertOn: () => void): SharedState {
    const state = this
    const author: Author = { by: 'tool', toolCallId }
    return {
      get value() {
        return state.value
      },
      get version() {
        return state.version
      },
      set: (next, options) => this.#set(next, options, author, assertOn),
      patch: (operations, options) => this.#patch(operations, options, author, assertOn),
      subscribe: (listener) => this.subscribe(listener),
    }
  }

  #set(
    next: JsonObject | ((current: JsonObject) => JsonObject),
    options: StateChangeOptions = {},
    author?: Author,
    assertOn?: () => void,
  ): Promise<number> {
    const made: Next = async (current) => this.#rules.checked(typeof next === 'function' ? next(copyJson(current)) : next)
    return this.#change(made, options, author, assertOn)
  }

  #patch(operations: readonly PatchOperation[], options: StateChangeOptions = {}, author?: Author, assertOn?: () => void): Promise<number> {
    return this.#change((current) => this.#rules.patched(current, operations), options, author, assertOn)
  }

  /** Creates the next version when its turn comes. */
  async #change(next: Next, options: StateChangeOptions, author?: Author, assertOn: () => void = () => undefined): Promise<number> {
    checkOptions(options, changeOptions)
    const { ifVersion, by = 'application', idempotencyKey } = options
    const changing = this.#turn.then(async () => {
      assertOn()
      const { version, value } = this.#saved
      if (ifVersion !== undefined && ifVersion !== version) throw conflict(ifVersion, version)
      const after = frozen(await next(value))
      const patch = this.#rules.diff(value, after)
      if (patch?.length === 0) return version
      assertOn()
      const change: StateChange = {
        version: version + 1,
        ...(author ?? { by }),
        ...(patch === undefined ? { value: after } : { patch }),
      }
      await this.#record(change, after, idempotencyKey)
      this.#saved = { version: change.version, value: after }
      this.#tell({ ...change, hash: argumentsHash(after) })
      return change.version
    })
    this.#turn = changing.catch(() => undefined)
    return changing
  }

  async #record(change: StateChange, value: JsonObject, idempotencyKey?: string): Promise<void> {
    const sessionId = this.#recorder.sessionId()
    const isWhole = this.#wholeIn !== sessionId || change.version % wholeEvery === 0
    const { patch: _, ...rest } = change
    const key = idempotencyKey === undefined ? {} : { idempotencyKey }
    const recorded = this.#recorder.record({ type: 'sharedState', ...(isWhole ? { ...rest, value } : change), ...key })
    if (recorded === undefined) return
    try {
      await recorded
      this.#wholeIn = sessionId
    } catch (error) {
      // It is unknown how much of it was recorded.
      this.#wholeIn = undefined
      throw error
    }
  }

  #tell(change: StateChangeNotification): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change)
      } catch {
        // A failing listener must affect neither the other listeners nor the caller.
      }
    }
  }
}

function conflict(ifVersion: number, version: number): ConfigError {
  return new ConfigError(
    'stateConflict',
    `The shared state was not changed: the patch expects version ${ifVersion}, but the current version is ${version}. Read the state and create the patch again.`,
  )
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
