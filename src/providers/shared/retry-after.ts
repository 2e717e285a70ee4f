/**
 * How long a service asked to wait, in ms: `retry-after-ms`, then `retry-after` (seconds or an HTTP date), then Google's `retryDelay`.
 * Not capped: that is the caller's choice. Source: reference/providers.md §0 "Retry".
 */
export function retryAfterMs(headers: Headers | undefined, retryDelay: string | undefined): number | undefined {
  const exact = number(headers?.get('retry-after-ms'))
  if (exact !== undefined) return exact
  const header = headers?.get('retry-after')
  const seconds = number(header) ?? number(retryDelay?.replace('s', ''))
  if (typeof header === 'string' && number(header) === undefined) {
    const at = Date.parse(header)
    if (!Number.isNaN(at)) return Math.max(0, at - Date.now())
  }
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}

function number(text: string | null | undefined): number | undefined {
  const value = text === null || text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}
