import { AbortScope } from '../base/abort.ts'
import { toBase64 } from '../base/base64.ts'
import { isRedirect, readBytes } from '../base/http-answer.ts'
import { isLoopbackHost, isPrivateHost } from '../base/private-host.ts'
import { bareUrl } from '../base/text/secrets.ts'
import { startTimer } from '../base/timer.ts'
import { errorText, isNamed, PhiError } from '../contract/errors.ts'
import { baseType, defaultMaxMediaBytes, headBytes, isTextType, sourceFault } from '../contract/message/media.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, aPositiveNumber, aText, kind, listOf, options as optionsOf, required } from '../contract/shape/shape.ts'
import type { MediaQuery, ResolveMedia } from '../types/model/provider.ts'

/**
 * Reason for a failed fetch or upload of media.
 *
 * - `refused`: the URL is not allowed.
 * - `tooLarge`: more bytes than the limit.
 * - `wrongType`: the bytes contradict the declared type.
 * - `timeout`: the time limit expired.
 * - `unavailable`: the server did not respond, or responded with an error.
 * - `unsupported`: the provider does not store such files.
 */
export type MediaErrorCode = 'refused' | 'tooLarge' | 'wrongType' | 'timeout' | 'unavailable' | 'unsupported'

/** Error for media that could not be fetched or uploaded. Source: docs/guides/many-documents.md */
export class MediaError extends PhiError<MediaErrorCode> {
  override readonly name = 'MediaError'

  static override isInstance(value: unknown): value is MediaError {
    return isNamed(value, 'MediaError')
  }
}

/** Options for `fetchMedia`: allowed hosts and limits. */
export interface FetchMediaOptions {
  /**
   * Allowed hosts: `files.example.com`, with the port if it is not 443, or `*.example.com` for all subdomains. Private hosts and this
   * machine must be listed by name. Plain http is allowed for this machine only.
   */
  hosts: readonly string[]
  /** Maximum size in bytes. Default: 20 MiB. */
  maxBytes?: number
  /** Milliseconds for the whole fetch, redirects included. Default: 30,000. */
  timeoutMs?: number
  /** Sends requests. Default: the global `fetch`. A custom function can resolve names and refuse private addresses. */
  fetch?: typeof fetch
}

const aHost = kind('a host, such as "files.example.com" or "*.example.com"', (value) => {
  if (typeof value !== 'string') return false
  const host = value.replace(/^\*\./, '')
  return /^[^*/?#@\s]+$/.test(host) && URL.canParse(`https://${host}`) && (host === value || /[^.]\.[^.]/.test(host))
})
const ofFetchMedia = optionsOf<FetchMediaOptions>({
  hosts: required(listOf({ ...aText, ...aHost })),
  maxBytes: aPositiveNumber,
  timeoutMs: aPositiveNumber,
  fetch: aFunction,
})

const maxRedirects = 5
/** Milliseconds for the whole fetch. */
export const defaultMediaTimeoutMs = 30_000
/** Maximum length of a URL, in characters. */
const maxAddress = 8192
/** Fetch options that send neither cookies nor a referrer. */
const unnamed: RequestInit = { credentials: 'omit', referrerPolicy: 'no-referrer' }

/**
 * Creates a `resolveMedia` that fetches URLs from an allow-list of hosts.
 *
 * **Contract**
 * - Fetches over https. Follows at most five redirects, and checks each against the same list. Sends no cookies, keys or referrer.
 * - Trusts listed names: does not check which IP address a name resolves to.
 * - Stops reading at `maxBytes`. The `content-type`, the first bytes and the type in the message must agree.
 * - Rejects with `MediaError`, or with the reason of the query's signal. Errors never contain the query or the user info of a URL.
 * - Throws `ConfigError` `invalidOption` if the list names no host.
 *
 * Source: docs/guides/many-documents.md
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, resolveMedia: fetchMedia({ hosts: ['files.example.com'] }) })
 * ```
 */
export function fetchMedia(options: FetchMediaOptions): ResolveMedia {
  checkOptions(options, ofFetchMedia)
  const { timeoutMs = defaultMediaTimeoutMs } = options
  const hosts = options.hosts.map(hostOf)
  return async (query) => {
    const scope = new AbortScope(query.signal)
    const late = new MediaError('timeout', `${shownUrl(query.url)} did not complete its response within ${timeoutMs} ms (timeoutMs).`)
    const stopTimer = startTimer(timeoutMs, () => scope.abort(late))
    try {
      return await scope.race(fetchOne(query, hosts, options, scope.signal))
    } catch (error) {
      if (scope.aborted || MediaError.isInstance(error)) throw error
      throw new MediaError('unavailable', `${shownUrl(query.url)} cannot be reached: ${errorText(error)}`, { cause: error })
    } finally {
      stopTimer()
      scope.abort()
      scope.release()
    }
  }
}

/** Normalizes a host and port the way `URL` does. */
function hostOf(entry: string): string {
  const isWide = entry.startsWith('*.')
  const { host } = new URL(`https://${isWide ? entry.slice(2) : entry}`)
  return isWide ? `*.${host}` : host
}

async function fetchOne(
  query: MediaQuery,
  hosts: readonly string[],
  { maxBytes = defaultMaxMediaBytes, fetch: send = (input, init) => fetch(input, init) }: FetchMediaOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let url = allowed(query.url, hosts)
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const response = await send(url, { redirect: 'manual', signal, headers: { accept: query.mimeType }, ...unnamed })
    const next = redirectOf(response, url)
    if (next === undefined) return takeBody(response, url, query, maxBytes)
    response.body?.cancel().catch(() => undefined)
    url = allowed(next, hosts, url)
  }
  throw new MediaError('refused', `${shownUrl(query.url)} redirects more than ${maxRedirects} times.`)
}

/** Returns a URL that is safe to show in errors. */
function shownUrl(address: string): string {
  return /^https?:/i.test(address) ? bareUrl(address.slice(0, maxAddress)) : JSON.stringify(address.slice(0, 60))
}

/** Returns the redirect target of `response`, or `undefined` if it is not a redirect. */
function redirectOf(response: Response, from: URL): string | undefined {
  if (response.type === 'opaqueredirect') {
    throw new MediaError('refused', `${shownUrl(from.href)} redirects, and a browser hides the target. Pass the target URL.`)
  }
  const location = isRedirect(response) ? response.headers.get('location') : null
  return location === null ? undefined : (URL.parse(location, from)?.href ?? location)
}

/** Returns `address` as a URL if it is allowed. `from` is the URL that redirected to it. */
function allowed(address: string, hosts: readonly string[], from?: URL): URL {
  const url = address.length > maxAddress || !/^https?:/i.test(address) ? null : URL.parse(address)
  const shown = from === undefined ? shownUrl(address) : `${shownUrl(address)} (redirected from ${shownUrl(from.href)})`
  if (url === null)
    throw new MediaError('refused', `Refusing to fetch ${shown}: it is not an https URL, or has more than ${maxAddress} characters.`)
  const { protocol, host, hostname, username, password } = url
  const isNamed = hosts.includes(protocol === 'http:' && url.port === '' ? `${host}:80` : host)
  if (protocol !== 'https:' && !(protocol === 'http:' && isNamed && isLoopbackHost(hostname)))
    throw new MediaError('refused', `Refusing to fetch ${shown}: only https URLs are allowed.`)
  if (username + password !== '') throw new MediaError('refused', `Refusing to fetch ${shown}: the URL contains credentials.`)
  if (isPrivateHost(hostname) ? isNamed : isNamed || isBelow(host, hosts)) return url
  const why = isPrivateHost(hostname) ? `${host} is in a private network` : `${host} is not listed in hosts`
  throw new MediaError('refused', `Refusing to fetch ${shown}: ${why}. To allow this host, add it to the hosts option of fetchMedia.`)
}

function isBelow(host: string, hosts: readonly string[]): boolean {
  return hosts.some((each) => each.startsWith('*.') && host.endsWith(each.slice(1)))
}

async function takeBody(response: Response, url: URL, { mimeType }: MediaQuery, maxBytes: number): Promise<Uint8Array> {
  const place = shownUrl(url.href)
  try {
    if (!response.ok) throw new MediaError('unavailable', `${place} responded with ${response.status}.`)
    checkContentType(response.headers.get('content-type'), mimeType, place)
    const statedBytes = Number(response.headers.get('content-length') ?? 0)
    const { bytes, isWhole } = statedBytes > maxBytes ? { bytes: new Uint8Array(), isWhole: false } : await readBytes(response, maxBytes)
    if (!isWhole)
      throw new MediaError(
        'tooLarge',
        `${place} has ${statedBytes > maxBytes ? statedBytes : 'more'} bytes, but maxBytes allows ${maxBytes}.`,
      )
    if (bytes.length === 0) throw new MediaError('unavailable', `${place} is empty. Pass a file with content.`)
    const fault = sourceFault({ mimeType, data: toBase64(bytes.subarray(0, headBytes)) }, place, 'given')
    if (fault !== undefined) throw new MediaError('wrongType', `${fault}.`)
    return bytes
  } catch (error) {
    if (!response.bodyUsed) response.body?.cancel().catch(() => undefined)
    throw error
  }
}

/**
 * Checks the declared type. A missing or generic type passes, because the bytes are checked later. Any text may be declared as plain
 * text.
 */
function checkContentType(type: string | null, mimeType: string, place: string): void {
  const statedType = baseType(type ?? '')
  if (statedType === '' || statedType.endsWith('/octet-stream') || statedType === baseType(mimeType)) return
  if (isTextType(mimeType) && statedType === 'text/plain') return
  throw new MediaError('wrongType', `${place} has type ${statedType}, but the message declares ${baseType(mimeType)}.`)
}
