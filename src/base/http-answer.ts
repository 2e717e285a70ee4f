/**
 * Whether an answer sends its caller elsewhere. Of the other 3xx none does: 304 says that nothing has changed. 0 is what a browser shows of an answer
 * that it does not follow.
 */
export function isRedirect({ status }: Pick<Response, 'status'>): boolean {
  return [0, 301, 302, 303, 307, 308].includes(status)
}

/** A number as headers have it: no more digits than a sum with it can hold, with or without a fraction. */
export function count(text: string | null | undefined): number | undefined {
  return /^\d{1,15}(\.\d+)?$/.test(text ?? '') ? Number(text) : undefined
}

/**
 * How long a `retry-after` header asks to wait, in ms: seconds (`5`, `5s`), or a date, measured from `clock` (epoch ms). Of a header that came twice
 * (`5, 5`) the longest counts. `undefined` for anything else.
 */
export function retryAfterIn(header: string | null | undefined, clock: number): number | undefined {
  const said = header?.trim()
  // Engines make a date of almost anything with a number in it, and one that is over would mean: at once.
  if (said !== undefined && /\d\d:\d\d:\d\d/.test(said)) {
    const at = Date.parse(/^.*?GMT/.exec(said)?.[0] ?? said)
    if (!Number.isNaN(at)) return Math.max(0, at - clock)
  }
  const seconds = longest(said, 's')
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}

/** The largest of the numbers of a header, which proxies repeat within it (`5, 5`), each with or without `unit`. */
export function longest(header: string | null | undefined, unit: string): number | undefined {
  const numbers = (header ?? '').split(',').map((part) => {
    const text = part.trim()
    return count(text.endsWith(unit) ? text.slice(0, -unit.length).trim() : text)
  })
  return numbers.reduce((most, each) => (most === undefined || each === undefined ? undefined : Math.max(most, each)), numbers[0])
}

/** At most `limit` bytes from a body. Bodies that go on are cancelled, and so are those that `signal` ends: what had come is then what there is. */
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
  // The rest may never end, and a cancelled stream may never say so.
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

/** `line`, or what it is where it is a web page: servers on the way to a service answer with one, and nobody reads its text in an error. */
export function namedPage(line: string): string {
  if (!/^(?:<!--.{0,200}?--> ?)?<(?:!doctype html|html|head|body)\b/i.test(line)) return line
  const title = /<title[^>]{0,100}>([^<]{0,100})/i.exec(line)?.[1]?.trim() ?? ''
  return title === '' ? 'a web page, which is not of the API' : `a web page called "${title}", which is not of the API`
}

/** Whether an answer is a stream of server-sent events. */
export function isEventStream({ headers }: Pick<Response, 'headers'>): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true
}
