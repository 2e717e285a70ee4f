import { startTimer } from './timer.ts'

/**
 * Something that can be stopped: a run, or one call within it. It stops when its parent does.
 *
 * **Contract**
 * - All that wait for the abort stand in one list; the parent has one listener, until `release`. The `AbortSignal` is made when it is asked for.
 * - At an abort the signal's listeners are told first, then those that wait, in the order in which they came.
 */
export class AbortScope {
  #controller: AbortController | undefined
  /** The beginning and the end of the ring of those that wait. Not a set: that makes a new table each time its last member leaves. */
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

  /** What it was stopped with. */
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

  /** Stops it, once: what comes later changes nothing. */
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

  /** Throws the reason where it was stopped. */
  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason
  }

  /** Calls `act` once with the reason when it is stopped, at once where it was; returns how to stop waiting. */
  wait(act: (reason: unknown) => void): () => void {
    if (this.#isAborted) {
      act(this.#reason)
      return () => undefined
    }
    this.#waiting ??= emptyRing()
    const waiter = addTo(this.#waiting, act)
    return () => unlink(waiter)
  }

  /** `work`, or a rejection with the reason as soon as it is stopped. The work goes on detached: its late outcome is dropped. */
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

  /** Stops following its parent. */
  release(): void {
    this.#release()
  }
}

/** An entry of a ring: it has neighbours until it leaves. */
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

/** Takes a waiter out, once. It forgets its neighbours: they would live as long as it. */
function unlink(waiter: Waiter): void {
  const { next, previous } = waiter
  if (next === undefined || previous === undefined) return
  previous.next = next
  next.previous = previous
  waiter.next = waiter.previous = undefined
}

/** Calls `act` once when `parent` aborts, at once where it has; returns how to stop following it. */
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
 * `work`, or a rejection with the signal's reason as soon as it aborts. The work goes on detached: its late outcome is dropped. The listener is
 * gone when the returned promise settles.
 */
export function raceAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = onAbort(signal, reject)
    Promise.resolve(work).then(resolve, reject).finally(leave)
  })
}

/** What a callback returned may be a promise, though nobody waits for it: `failed` is told what it rejects with. Runs once per delta. */
export function catchLate(outcome: unknown, failed: (error: unknown) => void): void {
  if (outcome !== undefined && outcome instanceof Promise) outcome.catch(failed)
}

/** Waits for `work`, but once `signal` has aborted at most `graceMs` longer; then rejects. Leaves neither timer nor listener. */
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
