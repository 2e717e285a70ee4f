import type { LogClaim } from '../../../src/session.ts'

const prefixOf = (database: string): string => `phi-core/${database}/`

/**
 * Steals a session's Web Lock and holds it until the returned function is called or another tab steals it, which calls
 * `onStolen`. Does nothing without Web Locks.
 */
function holdLock(database: string, sessionId: string, onStolen: () => void): () => void {
  let free: () => void = () => undefined
  const isFree = new Promise<void>((resolve) => {
    free = resolve
  })
  navigator.locks
    ?.request(prefixOf(database) + sessionId, { steal: true }, () => isFree)
    .catch((error: unknown) => {
      // Other failures come from contexts that must not use locks, such as sandboxed frames.
      if (error instanceof DOMException && error.name === 'AbortError') onStolen()
    })
  return free
}

/** Returns the ids of sessions with a live owner. Empty without Web Locks, or if they may not be queried. */
export async function lockedSessions(database: string): Promise<string[]> {
  const prefix = prefixOf(database)
  const { held = [] } = (await navigator.locks?.query().catch(() => undefined)) ?? {}
  return held.flatMap(({ name = '' }) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
}

/** Some embedded browsers lack or reject this API. Writers there notice other tabs only when they write. */
function channelOf(database: string): BroadcastChannel | undefined {
  try {
    return typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(`phi-core/${database}`)
  } catch {
    return undefined
  }
}

/** Listeners for a database's sessions. */
export interface ClaimListeners {
  onTakenOver?: ((sessionId: string) => void) | undefined
  onChange?: ((sessionId: string) => void) | undefined
}

/** Reports from the driver. */
export interface ClaimWatch {
  /** Claims a session. Messages from other tabs that arrive during the claim are handled afterwards. */
  claiming<Claim>(sessionId: string, take: () => Promise<Claim>): Promise<Claim>
  claimed(claim: LogClaim, isCurrent: () => Promise<boolean>): void
  released(claim: LogClaim): void
  /** An append was rejected, because the claim is outdated. */
  refused(claim: LogClaim): void
  /** The claimed session has its first record. */
  begun(claim: LogClaim): void
  deleted(sessionId: string): void
  /** Starts to listen to other tabs. */
  listen(): void
}

interface HeldClaim {
  isCurrent: () => Promise<boolean>
  freeLock: () => void
}

/**
 * Holds a Web Lock per claim, which the browser releases when the tab ends in any way, and notifies other tabs.
 *
 * **Contract**
 * - Locks and messages are only hints. The database decides who may write, and a stolen lock or a message triggers a check there.
 * - A claim never waits, because it steals the lock.
 */
export function claimWatch(name: string, { onTakenOver, onChange }: ClaimListeners): ClaimWatch {
  const held = new Map<LogClaim, HeldClaim>()
  /** Pending claims, by session. */
  const coming = new Map<string, Promise<void>>()
  let channel: BroadcastChannel | undefined

  function tell(sessionId: string): void {
    channel?.postMessage(sessionId)
  }

  function claimsOf(sessionId: string): LogClaim[] {
    return [...held.keys()].filter((claim) => claim.sessionId === sessionId)
  }

  function drop(claim: LogClaim): boolean {
    held.get(claim)?.freeLock()
    return held.delete(claim)
  }

  function lose(claim: LogClaim): void {
    if (drop(claim)) onTakenOver?.(claim.sessionId)
  }

  async function check(claim: LogClaim): Promise<boolean> {
    // If the database cannot be read, the next append reports it.
    const isCurrent = await held
      .get(claim)
      ?.isCurrent()
      .catch(() => true)
    if (isCurrent === false) lose(claim)
    return isCurrent === true && held.has(claim)
  }

  /** Two concurrent claims may steal the lock in a different order than they claimed. The valid one steals it back. */
  async function stolen(claim: LogClaim): Promise<void> {
    const entry = held.get(claim)
    if (entry !== undefined && (await check(claim))) entry.freeLock = holdLock(name, claim.sessionId, () => void stolen(claim))
  }

  async function heard({ data }: MessageEvent<unknown>): Promise<void> {
    if (typeof data !== 'string') return
    await coming.get(data)
    const areCurrent = await Promise.all(claimsOf(data).map(check))
    // If this tab owns the session, the message is outdated, because its sender has lost ownership.
    if (!areCurrent.includes(true)) onChange?.(data)
  }

  return {
    listen() {
      channel ??= channelOf(name)
      if (channel !== undefined) channel.onmessage = (event) => void heard(event)
    },
    claiming(sessionId, take) {
      const claim = take()
      const over = claim.then(forget, forget)
      function forget(): void {
        if (coming.get(sessionId) === over) coming.delete(sessionId)
      }
      coming.set(sessionId, over)
      return claim
    },
    claimed(claim, isCurrent) {
      // This tab took over from itself.
      for (const older of claimsOf(claim.sessionId)) drop(older)
      held.set(claim, { isCurrent, freeLock: holdLock(name, claim.sessionId, () => void stolen(claim)) })
      tell(claim.sessionId)
    },
    released(claim) {
      if (drop(claim)) tell(claim.sessionId)
    },
    refused: lose,
    begun: ({ sessionId }) => tell(sessionId),
    deleted(sessionId) {
      for (const claim of claimsOf(sessionId)) drop(claim)
      tell(sessionId)
    },
  }
}
