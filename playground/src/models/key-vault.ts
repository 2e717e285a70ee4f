import { signal } from '@preact/signals'

/** Owner of a secret: a provider, a proxy, a local server, or the server of sessions. */
export type KeyOwner = string

const place = 'phi-playground-keys'

/** Kept in the memory of this page alone, unless the visitor asks for more. Never part of settings, sessions, exports, addresses or errors. */
const keys = new Map<KeyOwner, string>(readKept())

/** Whether keys outlive a reload, in the storage of this tab. */
export const areKeysKept = signal(keys.size > 0)
/** For whom there is a key. */
export const keyOwners = signal<readonly KeyOwner[]>([...keys.keys()])

/** The key of `owner`, for the call that is about to be made. */
export function keyOf(owner: KeyOwner): string | undefined {
  return keys.get(owner)
}

export function setKey(owner: KeyOwner, key: string): void {
  if (key.trim() === '') keys.delete(owner)
  else keys.set(owner, key.trim())
  publish()
}

/** Forgets every key, at once and everywhere. Calls that are under way end with the runs they belong to. */
export function forgetKeys(): void {
  keys.clear()
  publish()
}

/** Keeps keys until the tab is closed, or in memory only. */
export function keepKeys(isKept: boolean): void {
  areKeysKept.value = isKept
  publish()
}

function publish(): void {
  keyOwners.value = [...keys.keys()]
  try {
    if (areKeysKept.value && keys.size > 0) sessionStorage.setItem(place, JSON.stringify([...keys]))
    else sessionStorage.removeItem(place)
  } catch {
    // A browser without storage keeps them in memory, which is what the page says then.
    areKeysKept.value = false
  }
}

function readKept(): [string, string][] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(place) ?? '[]')
    if (!Array.isArray(kept)) return []
    return kept.flatMap((pair) =>
      Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string' ? [[pair[0], pair[1]] as [string, string]] : [],
    )
  } catch {
    return []
  }
}
