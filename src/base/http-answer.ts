/**
 * Returns whether a response is a redirect. Excludes other 3xx statuses, such as 304. Browsers report status 0 for a redirect that they do
 * not follow.
 */
export function isRedirect({ status }: Pick<Response, 'status'>): boolean {
  return [0, 301, 302, 303, 307, 308].includes(status)
}

/** Matches a number in a header, with an optional fraction. Limits the digits so that sums are exact. */
export function count(text: string | null | undefined): number | undefined {
  return /^\d{1,15}(\.\d+)?$/.test(text ?? '') ? Number(text) : undefined
}

/**
 * Parses a `retry-after` header and returns the delay in milliseconds. Accepts seconds (`5`, `5s`) or a date, compared to `clock` (epoch
 * milliseconds). For a repeated header (`5, 5`), returns the longest delay. Returns `undefined` for other values.
 */
export function retryAfterIn(header: string | null | undefined, clock: number): number | undefined {
  const value = header?.trim()
  // Reject other texts, because engines parse almost any text with a number as a date, and a past date means no delay.
  if (value !== undefined && /\d\d:\d\d:\d\d/.test(value)) {
    const at = Date.parse(/^.*?GMT/.exec(value)?.[0] ?? value)
    if (!Number.isNaN(at)) return Math.max(0, at - clock)
  }
  const seconds = longest(value, 's')
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}

/** Returns the largest number in a header that proxies may repeat (`5, 5`). Each number may have the suffix `unit`. */
export function longest(header: string | null | undefined, unit: string): number | undefined {
  const numbers = (header ?? '').split(',').map((part) => {
    const text = part.trim()
    return count(text.endsWith(unit) ? text.slice(0, -unit.length).trim() : text)
  })
  return numbers.reduce((most, each) => (most === undefined || each === undefined ? undefined : Math.max(most, each)), numbers[0])
}

/** Reads at most `limit` bytes of a body and cancels the rest. If `signal` aborts, cancels and returns the bytes received so far. */
export async function readBytes(
  response: Response,
  limit: number,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  const leave = (): void => void reader?.cancel().catch(() => undefined)
  signal?.addEventListener('abort', leave, { once: true })
  try {
    while (reader !== undefined && size <= limit) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value)
      size += value.length
    }
  } finally {
    signal?.removeEventListener('abort', leave)
  }
  // Do not wait for the cancellation, which may never settle.
  if (size > limit) leave()
  const bytes = new Uint8Array(Math.min(size, limit))
  let at = 0
  for (const chunk of chunks) {
    const part = chunk.subarray(0, bytes.length - at)
    bytes.set(part, at)
    at += part.length
  }
  return { bytes, isWhole: size <= limit }
}

/** Returns `line`, or a short description if it is an HTML error page, as proxies send. */
export function namedPage(line: string): string {
  if (!/^(?:<!--.{0,200}?--> ?)?<(?:!doctype html|html|head|body)\b/i.test(line)) return line
  const title = /<title[^>]{0,100}>([^<]{0,100})/i.exec(line)?.[1]?.trim() ?? ''
  return title === '' ? 'a web page, which is not of the API' : `a web page called "${title}", which is not of the API`
}

/** Returns whether a response is a stream of server-sent events. */
export function isEventStream({ headers }: Pick<Response, 'headers'>): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true
}
