import { hasRates } from '../../../src/context.ts'
import { type CostConfig, estimatedCost, type Usage } from '../../../src/index.ts'

const integers = new Intl.NumberFormat('en')
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false })

export const count = (value: number): string => integers.format(value)

/** 812, 8.1k, 1.2M. */
export function short(value: number): string {
  if (Math.round(value) < 1000) return String(Math.round(value))
  // 1000.0k is shown as 1.0M.
  return value < 999_950 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`
}

/** 812 bytes, 8.1 kB, 1.2 MB, 3.4 GB. */
export function bytesOf(value: number): string {
  if (value < 1000) return `${Math.round(value)} bytes`
  const units = ['kB', 'MB', 'GB']
  const power = Math.min(units.length, Math.floor(Math.log10(value) / 3))
  return `${(value / 1000 ** power).toFixed(1)} ${units[power - 1]}`
}

/** 84 ms, 1.9 s, 2 min 5 s. */
export function duration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export function dollars(value: number): string {
  return value === 0 ? '$0' : value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`
}

/** Formats dollars, or a dash if unknown. */
export const dollarsOf = (value: number | undefined): string => (value === undefined ? '–' : dollars(value))

/** Formats the cost in dollars of a response with this `usage`, or a dash without prices. */
export function costOf(usage: Usage, cost: CostConfig): string {
  return dollarsOf(usage.reportedCost !== undefined || hasRates({ cost }) ? estimatedCost(usage, cost) : undefined)
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`
export const timeOfDay = (at: number): string => clock.format(at)
export const dateOf = (at: number): string => day.format(at)

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}
