import { signal } from '@preact/signals'

/** What a secret is for: a provider, a proxy, a local server, or a session server. */
export type KeyOwner = string

const place = 'phi-playground-keys'

/**
 * Secrets, stored only in this page's memory unless the user opts into more. They are never part of settings, sessions, exports, URLs or
 * errors.
 */
const keys = new Map<KeyOwner, string>(readKept())

/** Whether keys survive a reload, in this tab's storage. */
export const areKeysKept = signal(keys.size > 0)
/** The owners that have a key. */
export const keyOwners = signal<readonly KeyOwner[]>([...keys.keys()])

/** Returns the owner's key, for a call that is about to be made. */
export function keyOf(owner: KeyOwner): string | undefined {
  return keys.get(owner)
}

export function setKey(owner: KeyOwner, key: string): void {
  if (key.trim() === '') keys.delete(owner)
  else keys.set(owner, key.trim())
  publish()
}

/** Deletes all keys immediately, in memory and in storage. Calls in progress end with their runs. */
export function forgetKeys(): void {
  keys.clear()
  publish()
}

/** Stores keys until the tab is closed, or only in memory. */
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
    // Without storage, keys stay in memory, and the page says so.
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
