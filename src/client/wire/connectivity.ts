import { startTimer } from '../../base/timer.ts'
import { fieldIn } from '../../contract/json.ts'

/** Event target that reports connectivity. */
export type Signal = 'online' | 'visible'

type Target = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>

/**
 * Calls `act` when the platform is online again or the page becomes visible. Returns a function that unsubscribes. Platforms without these
 * events never call `act`.
 */
export function onSignal(act: (signal: Signal) => void): () => void {
  const scope: object = globalThis
  const page: unknown = Reflect.get(scope, 'document')
  const online = () => act('online')
  const visible = () => {
    if (isTarget(page) && Reflect.get(page, 'visibilityState') === 'visible') act('visible')
  }
  const stops = [listen(scope, 'online', online), listen(page, 'visibilitychange', visible)]
  return () => {
    for (const stop of stops) stop()
  }
}

/**
 * Waits `ms` milliseconds. Stops waiting early when the platform comes online or the page becomes visible, and waits longer while offline.
 */
export function waitForWay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stopTimer()
      stopSignals()
      signal.removeEventListener('abort', settle)
      resolve()
    }
    // Wait for the platform to come online, so that being offline does not count as a failed attempt.
    const stopTimer = startTimer(ms, () => (isOffline() ? undefined : settle()))
    const stopSignals = onSignal(settle)
    signal.addEventListener('abort', settle)
    if (signal.aborted) settle()
  })
}

function isOffline(): boolean {
  return fieldIn(fieldIn(globalThis, 'navigator'), 'onLine') === false
}

function listen(target: unknown, type: string, listener: () => void): () => void {
  if (!isTarget(target)) return () => undefined
  target.addEventListener(type, listener)
  return () => target.removeEventListener(type, listener)
}

function isTarget(value: unknown): value is Target {
  return typeof fieldIn(value, 'addEventListener') === 'function'
}
