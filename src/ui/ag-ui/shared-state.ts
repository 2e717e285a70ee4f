import { argumentsHash } from '../../base/hash.ts'
import { charsWithin } from '../../base/json/json-diff.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { SharedStateChangedEvent } from '../../contract/run/event.ts'
import type { SavedState } from '../../contract/session/shared-state.ts'
import { problem, type Read } from '../shared/client-input.ts'
import type { AgUiEvent } from './ag-ui-event.ts'

/**
 * AG-UI clients keep the state and send all of it back, without a version. So the version is a member of the root, with the start of a hash
 * of the state: returned state tells its version, and whether the client has changed it.
 */
const versionName = '$version'

function versionMark(version: number, hash: string): string {
  return `${version}.${hash.slice(0, 16)}`
}

/** State that a client sends. */
export interface ClientState {
  value: JsonObject
  /** Its base version, if present. */
  version?: number
  /** Whether it is that version unchanged. */
  isAsShown: boolean
}

/** Maximum characters of JSON; states are smaller. */
const maxChars = 4 * 1024 * 1024

/** Parses `state` of a `RunAgentInput`. Undefined without state: clients then send `{}`. The rules of the state validate it later. */
export function readState(given: JsonValue | undefined): Read<ClientState | undefined> {
  if (given === undefined || given === null) return { value: undefined }
  if (!isJsonObject(given)) return problem('state must be an object.')
  const { [versionName]: mark, ...value } = given
  if (mark === undefined && Object.keys(value).length === 0) return { value: undefined }
  if (charsWithin(value, maxChars) > maxChars) return problem(`state has more than ${maxChars} characters of JSON.`)
  const [, version, hash] = /^(\d{1,15})\.([0-9a-f]{16})$/.exec(typeof mark === 'string' ? mark : '') ?? []
  if (version === undefined || hash === undefined) return { value: { value, isAsShown: false } }
  return { value: { value, version: Number(version), isAsShown: argumentsHash(value).startsWith(hash) } }
}

/** Encodes the shared state of a stream: a snapshot at the start, then changes. */
export class StateEvents {
  /** The version that the client has; `undefined` without shared state. */
  #version: number | undefined
  #saved: SavedState | undefined

  constructor(saved: SavedState | undefined) {
    this.#saved = saved
    this.#version = saved?.version
  }

  /** Returns the first state event of a stream; none without shared state, or if it was sent. */
  begin(): AgUiEvent[] {
    const saved = this.#saved
    this.#saved = undefined
    return saved === undefined ? [] : [snapshotOf(saved, argumentsHash(saved.value))]
  }

  /** Encodes a change: nothing if the snapshot includes it. `undefined` if the client never got a snapshot. */
  changed({ version, hash, patch, value }: SharedStateChangedEvent): AgUiEvent[] | undefined {
    if (this.#version === undefined) return undefined
    if (version <= this.#version) return []
    this.#version = version
    if (value !== undefined) return [snapshotOf({ version, value }, hash)]
    const versionPatch = { op: 'add' as const, path: `/${versionName}`, value: versionMark(version, hash) }
    return [{ type: 'STATE_DELTA', delta: [...(patch ?? []), versionPatch] }]
  }
}

function snapshotOf({ version, value }: SavedState, hash: string): AgUiEvent {
  const snapshot: { [name: string]: JsonValue } = { ...value, [versionName]: versionMark(version, hash) }
  return { type: 'STATE_SNAPSHOT', snapshot }
}
