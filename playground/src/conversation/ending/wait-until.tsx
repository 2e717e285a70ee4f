import { useEffect, useState } from 'preact/hooks'
import type { RunState } from '../../../../src/store.ts'
import { dateOf, timeOfDay } from '../../parts/figures.ts'

/** Earliest retry in epoch milliseconds. `undefined` if the provider sent none. */
export function askedToWaitUntil({ failure, messages }: RunState): number | undefined {
  if (failure?.retryAfterMs === undefined) return undefined
  const last = messages.findLast(({ role }) => role === 'assistant' || role === 'user')
  return last === undefined ? undefined : (last.endedAt ?? last.startedAt) + failure.retryAfterMs
}

/** Counts down the wait that the provider requested. Empty afterwards. */
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
  if (now >= time) return <p data-testid="wait-until">The provider's retry delay is over. Try again.</p>
  return (
    <p data-testid="wait-until">
      The service asks to wait until {untilOf(time, now)}: {waitOf(time - now)} more.
    </p>
  )
}

/** Formats a time, with the date if it is not today. */
function untilOf(time: number, now: number): string {
  const until = new Date(time)
  if (Number.isNaN(until.getTime())) return 'a time that no calendar has'
  return until.toDateString() === new Date(now).toDateString() ? timeOfDay(time) : dateOf(time)
}

function waitOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`
}
