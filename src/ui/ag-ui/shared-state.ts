import { argumentsHash } from '../../base/hash.ts'
import { charsWithin } from '../../base/json/json-diff.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { SharedStateChangedEvent } from '../../contract/run/event.ts'
import type { SavedState } from '../../contract/session/shared-state.ts'
import { problem, type Read } from '../shared/client-input.ts'
import type { AgUiEvent } from './ag-ui-event.ts'

/**
 * AG-UI clients return the whole state without a version. A root member therefore contains the version and a prefix of the state's hash,
 * so the server can detect the base version and whether the client changed the state.
 */
const versionName = '$version'

function versionMark(version: number, hash: string): string {
  return `${version}.${hash.slice(0, 16)}`
}

/** State that a client sends. */
export interface ClientState {
  value: JsonObject
  /** The state's base version, if present. */
  version?: number
  /** Whether the client left the base version unchanged. */
  isAsShown: boolean
}

/** Maximum characters of the state's JSON. */
const maxChars = 4 * 1024 * 1024

/**
 * Parses `state` of a `RunAgentInput`. Returns `undefined` for `{}`, which clients without state send. The state's schema validates the
 * value later.
 */
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

/** Encodes a stream's shared state: a snapshot at the start, then changes. */
export class StateEvents {
  /** The client's version. `undefined` without shared state. */
  #version: number | undefined
  #saved: SavedState | undefined

  constructor(saved: SavedState | undefined) {
    this.#saved = saved
    this.#version = saved?.version
  }

  /** Returns the stream's snapshot event, or none without shared state, or if the snapshot was already sent. */
  begin(): AgUiEvent[] {
    const saved = this.#saved
    this.#saved = undefined
    return saved === undefined ? [] : [snapshotOf(saved, argumentsHash(saved.value))]
  }

  /** Encodes a change. Returns no events if the snapshot includes the change, and `undefined` if the client never received a snapshot. */
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
