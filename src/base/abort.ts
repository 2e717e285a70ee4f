import { startTimer } from './timer.ts'

/**
 * A scope that can be aborted: a run, or one call within a run. Aborts when its parent aborts.
 *
 * **Contract**
 * - All waiters share one list. The scope has one listener on its parent, until `release`. Creates the `AbortSignal` on first access.
 * - An abort notifies the signal's listeners first, then the waiters in registration order.
 */
export class AbortScope {
  #controller: AbortController | undefined
  /** Head of a circular list of waiters. A `Set` would allocate a new table each time its last member is removed. */
  #waiting: Waiter | undefined
  #isAborted = false
  #reason: unknown
  readonly #release: () => void

  constructor(parent: AbortSignal | AbortScope) {
    this.#release = onAbort(parent, (reason) => this.abort(reason))
  }

  get aborted(): boolean {
    return this.#isAborted
  }

  /** The abort reason. */
  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Aborts once. Later calls change nothing. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#isAborted) return
    this.#isAborted = true
    this.#reason = reason
    this.#controller?.abort(reason)
    const ring = this.#waiting
    for (let first = ring?.next; first !== undefined && first !== ring; first = ring?.next) {
      unlink(first)
      first.act(reason)
    }
  }

  /** Throws the reason if aborted. */
  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason
  }

  /** Calls `act` once with the reason on abort, or immediately if already aborted. Returns a function that unsubscribes. */
  wait(act: (reason: unknown) => void): () => void {
    if (this.#isAborted) {
      act(this.#reason)
      return () => undefined
    }
    this.#waiting ??= emptyRing()
    const waiter = addTo(this.#waiting, act)
    return () => unlink(waiter)
  }

  /**
   * Settles like `work`, or rejects with the reason on abort. After an abort, the work continues detached, and the scope ignores its
   * outcome.
   */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const leave = this.wait(reject)
      work.then(
        (value) => {
          leave()
          resolve(value)
        },
        (error) => {
          leave()
          reject(error)
        },
      )
    })
  }

  /** Removes the listener from the parent. */
  release(): void {
    this.#release()
  }
}

/** An entry of a circular list. Has neighbors until it is removed. */
interface Waiter {
  readonly act: (reason: unknown) => void
  next?: Waiter | undefined
  previous?: Waiter | undefined
}

function emptyRing(): Waiter {
  const ring: Waiter = { act: () => undefined, next: undefined, previous: undefined }
  ring.next = ring.previous = ring
  return ring
}

/** Adds a waiter at the end. */
function addTo(ring: Waiter, act: Waiter['act']): Waiter {
  const waiter: Waiter = { act, next: ring, previous: ring.previous }
  if (ring.previous !== undefined) ring.previous.next = waiter
  ring.previous = waiter
  return waiter
}

/** Removes a waiter once. Clears the references to its neighbors, so that they can be garbage-collected. */
function unlink(waiter: Waiter): void {
  const { next, previous } = waiter
  if (next === undefined || previous === undefined) return
  previous.next = next
  next.previous = previous
  waiter.next = waiter.previous = undefined
}

/** Calls `act` once when `parent` aborts, or immediately if already aborted. Returns a function that unsubscribes. */
export function onAbort(parent: AbortSignal | AbortScope, act: (reason: unknown) => void): () => void {
  if (parent instanceof AbortScope) return parent.wait(act)
  if (parent.aborted) {
    act(parent.reason)
    return () => undefined
  }
  const listener = () => act(parent.reason)
  parent.addEventListener('abort', listener, { once: true })
  return () => parent.removeEventListener('abort', listener)
}

/**
 * Settles like `work`, or rejects with the signal's reason on abort. After an abort, the work continues detached and its outcome is
 * ignored. Removes the listener when the returned promise settles.
 */
export function raceAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = onAbort(signal, reject)
    Promise.resolve(work).then(resolve, reject).finally(leave)
  })
}

/** Calls `failed` if `outcome` is a promise that rejects. Runs once per delta. */
export function catchLate(outcome: unknown, failed: (error: unknown) => void): void {
  if (outcome !== undefined && outcome instanceof Promise) outcome.catch(failed)
}

/** Waits for `work`, but rejects `graceMs` after `signal` aborts. Then removes its timer and listener. */
export function settleWithin<T>(work: PromiseLike<T>, signal: AbortSignal, graceMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let stopTimer: (() => void) | undefined
    const leave = onAbort(signal, () => {
      stopTimer = startTimer(graceMs, () => reject(new Error(`no answer within ${graceMs} ms of the abort`)))
    })
    const settle = () => {
      stopTimer?.()
      leave()
    }
    Promise.resolve(work).then(resolve, reject).finally(settle)
  })
}
