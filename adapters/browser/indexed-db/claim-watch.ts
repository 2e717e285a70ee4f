import type { LogClaim } from '../../../src/session.ts'

const prefixOf = (database: string): string => `phi-core/${database}/`

/**
 * Takes the Web Lock of a session away from whoever holds it, and holds it until the returned function is called or somebody takes it away in
 * turn: then `onStolen` is called. Does nothing where there are no Web Locks.
 */
function holdLock(database: string, sessionId: string, onStolen: () => void): () => void {
  let free: () => void = () => undefined
  const isFree = new Promise<void>((resolve) => {
    free = resolve
  })
  navigator.locks
    ?.request(prefixOf(database) + sessionId, { steal: true }, () => isFree)
    .catch((error: unknown) => {
      // Other failures are of places that may not lock, such as sandboxed frames.
      if (error instanceof DOMException && error.name === 'AbortError') onStolen()
    })
  return free
}

/** Ids of the sessions that somebody alive holds. Empty where there are no Web Locks, or none that may be asked. */
export async function lockedSessions(database: string): Promise<string[]> {
  const prefix = prefixOf(database)
  const { held = [] } = (await navigator.locks?.query().catch(() => undefined)) ?? {}
  return held.flatMap(({ name = '' }) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
}

/** Some embedded browsers have none, or refuse it: then other tabs are not heard, and writers find out when they write. */
function channelOf(database: string): BroadcastChannel | undefined {
  try {
    return typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(`phi-core/${database}`)
  } catch {
    return undefined
  }
}

/** Who wants to know what happens to the sessions of a database. */
export interface ClaimListeners {
  onTakenOver?: ((sessionId: string) => void) | undefined
  onChange?: ((sessionId: string) => void) | undefined
}

/** What the driver reports. */
export interface ClaimWatch {
  /** Takes the session: what other tabs say of it meanwhile is heard after that. */
  claiming<Claim>(sessionId: string, take: () => Promise<Claim>): Promise<Claim>
  claimed(claim: LogClaim, isCurrent: () => Promise<boolean>): void
  released(claim: LogClaim): void
  /** An append was refused, because the claim is no longer current. */
  refused(claim: LogClaim): void
  /** Its session has its first record. */
  begun(claim: LogClaim): void
  deleted(sessionId: string): void
  /** Hears other tabs from now on. */
  listen(): void
}

interface HeldClaim {
  isCurrent: () => Promise<boolean>
  freeLock: () => void
}

/**
 * Holds a Web Lock per claim as a sign of life, which the browser takes down when the tab ends in whatever way, and talks to other tabs.
 *
 * **Contract**
 * - Locks and messages only inform. Who may write is decided in the database: a stolen lock or a message makes the watch look there.
 * - A claim waits for nobody: it steals the lock.
 */
export function claimWatch(name: string, { onTakenOver, onChange }: ClaimListeners): ClaimWatch {
  const held = new Map<LogClaim, HeldClaim>()
  /** What is being claimed, by session. */
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
    // Where the database cannot be read, the next append says what is the matter.
    const isCurrent = await held
      .get(claim)
      ?.isCurrent()
      .catch(() => true)
    if (isCurrent === false) lose(claim)
    return isCurrent === true && held.has(claim)
  }

  /** Two that claim at once may steal in another order than they have claimed: the one that counts steals back. */
  async function stolen(claim: LogClaim): Promise<void> {
    const entry = held.get(claim)
    if (entry !== undefined && (await check(claim))) entry.freeLock = holdLock(name, claim.sessionId, () => void stolen(claim))
  }

  async function heard({ data }: MessageEvent<unknown>): Promise<void> {
    if (typeof data !== 'string') return
    await coming.get(data)
    const areCurrent = await Promise.all(claimsOf(data).map(check))
    // Where this tab has the right to write, the message is older than that: it is of one that has lost it.
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
      // This tab has taken over from itself.
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
