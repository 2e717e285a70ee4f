import { useEffect, useState } from 'preact/hooks'
import type { RunState } from '../../../src/store/index.ts'

/** Epoch ms from which on the service wants to be asked again; `undefined` where it did not say. */
export function askedToWaitUntil({ failure, messages }: RunState): number | undefined {
  if (failure?.retryAfterMs === undefined) return undefined
  const last = messages.findLast(({ role }) => role === 'assistant' || role === 'user')
  return last === undefined ? undefined : (last.endedAt ?? last.startedAt) + failure.retryAfterMs
}

/** How long the service wants to be left alone, counted down; nothing once that is over. */
export function WaitUntil({ time }: { time: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => {
      setNow(Date.now())
      if (Date.now() >= time) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [time])
  if (now >= time) return <p data-testid="wait-until">The time that the service asked to wait is over. Try again.</p>
  return (
    <p data-testid="wait-until">
      The service asks to wait until {new Date(time).toLocaleTimeString()}: {waitOf(time - now)} more.
    </p>
  )
}

function waitOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
