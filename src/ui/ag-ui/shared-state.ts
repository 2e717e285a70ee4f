import { argumentsHash } from '../../base/hash.ts'
import { charsWithin } from '../../base/json/json-diff.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { SharedStateChangedEvent } from '../../contract/run/event.ts'
import type { SavedState } from '../../contract/session/shared-state.ts'
import { problem, type Read } from '../shared/client-input.ts'
import type { AgUiEvent } from './ag-ui-event.ts'

/**
 * Clients of AG-UI hold the state and send all of it back; they know nothing of versions. So the version is a member of the state at its root, with the beginning of the hash of
 * what it is the version of: what comes back says which version it was, and whether the page has changed it.
 */
const versionName = '$version'

function versionMark(version: number, hash: string): string {
  return `${version}.${hash.slice(0, 16)}`
}

/** The state that a page sends back. */
export interface ClientState {
  value: JsonObject
  /** Which one it was made of, where it says so. */
  version?: number
  /** It is that version as the page was shown it. */
  isAsShown: boolean
}

/** Characters of JSON that are looked at: more than any state may have. */
const maxChars = 4 * 1024 * 1024

/** Reads `state` of a `RunAgentInput`. Nothing where the page has none: clients send `{}` then. Whether it fits is for the rules of the state to say. */
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

/** What a response tells of the shared state: all of it at its beginning, then what changes. */
export class StateEvents {
  /** The version that the client has been shown; `undefined` where nothing is shared. */
  #version: number | undefined
  #saved: SavedState | undefined

  constructor(saved: SavedState | undefined) {
    this.#saved = saved
    this.#version = saved?.version
  }

  /** The first event of a response about it; none where nothing is shared, or it was sent. */
  begin(): AgUiEvent[] {
    const saved = this.#saved
    this.#saved = undefined
    return saved === undefined ? [] : [snapshotOf(saved, argumentsHash(saved.value))]
  }

  /** What a change comes to: nothing for one that the client has seen with the whole. `undefined` where it was never shown any. */
  changed({ version, hash, patch, value }: SharedStateChangedEvent): AgUiEvent[] | undefined {
    if (this.#version === undefined) return undefined
    if (version <= this.#version) return []
    this.#version = version
    if (value !== undefined) return [snapshotOf({ version, value }, hash)]
    const told = { op: 'add' as const, path: `/${versionName}`, value: versionMark(version, hash) }
    return [{ type: 'STATE_DELTA', delta: [...(patch ?? []), told] }]
  }
}

function snapshotOf({ version, value }: SavedState, hash: string): AgUiEvent {
  const snapshot: { [name: string]: JsonValue } = { ...value, [versionName]: versionMark(version, hash) }
  return { type: 'STATE_SNAPSHOT', snapshot }
}
