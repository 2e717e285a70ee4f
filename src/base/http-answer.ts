/**
 * Returns whether a response is a redirect. Other 3xx are not: 304 means not modified. Browsers show 0 for a response that they do not
 * follow.
 */
export function isRedirect({ status }: Pick<Response, 'status'>): boolean {
  return [0, 301, 302, 303, 307, 308].includes(status)
}

/** A number in a header: few enough digits for exact sums, with or without a fraction. */
export function count(text: string | null | undefined): number | undefined {
  return /^\d{1,15}(\.\d+)?$/.test(text ?? '') ? Number(text) : undefined
}

/**
 * Returns the wait of a `retry-after` header in milliseconds: seconds (`5`, `5s`), or a date relative to `clock` (epoch milliseconds). Of a
 * repeated header (`5, 5`) the longest counts. `undefined` otherwise.
 */
export function retryAfterIn(header: string | null | undefined, clock: number): number | undefined {
  const value = header?.trim()
  // Engines parse almost any text with a number as a date, and a past date would mean: at once.
  if (value !== undefined && /\d\d:\d\d:\d\d/.test(value)) {
    const at = Date.parse(/^.*?GMT/.exec(value)?.[0] ?? value)
    if (!Number.isNaN(at)) return Math.max(0, at - clock)
  }
  const seconds = longest(value, 's')
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}

/** Returns the largest number of a header that proxies repeat (`5, 5`), each with or without `unit`. */
export function longest(header: string | null | undefined, unit: string): number | undefined {
  const numbers = (header ?? '').split(',').map((part) => {
    const text = part.trim()
    return count(text.endsWith(unit) ? text.slice(0, -unit.length).trim() : text)
  })
  return numbers.reduce((most, each) => (most === undefined || each === undefined ? undefined : Math.max(most, each)), numbers[0])
}

/** Reads at most `limit` bytes of a body, and cancels the rest. Also cancelled when `signal` aborts; returns what has arrived. */
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
  // The rest may be endless, and a cancelled stream may never settle.
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

/** Returns `line`, or a short description if it is an HTML page, which proxies send as an error. */
export function namedPage(line: string): string {
  if (!/^(?:<!--.{0,200}?--> ?)?<(?:!doctype html|html|head|body)\b/i.test(line)) return line
  const title = /<title[^>]{0,100}>([^<]{0,100})/i.exec(line)?.[1]?.trim() ?? ''
  return title === '' ? 'a web page, which is not of the API' : `a web page called "${title}", which is not of the API`
}

/** Returns whether a response is a stream of server-sent events. */
export function isEventStream({ headers }: Pick<Response, 'headers'>): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true
}
