import { crc32 } from '../base/hash.ts'
import { ProviderError } from '../contract/errors.ts'

/** Text headers of a message by name, such as `:event-type`. Messages with equal headers share one object: do not change it. */
export type EventHeaders = ReadonlyMap<string, string>

/** Decodes bytes to messages. See {@link createAwsEventDecoder}. */
export interface AwsEventDecoder {
  /** Whether a message is incomplete. */
  readonly isInside: boolean
  /** Decodes the next bytes, split anywhere, and reports completed messages. */
  feed(bytes: Uint8Array): void
}

const preludeLength = 12
/** Bytes of the prelude and the message checksum. */
const minLength = preludeLength + 4
/** Maximum message length of this format. */
const maxLength = 24 * 1024 * 1024

/** Bytes of a header value by type. Byte arrays and strings start with their length. */
const valueLengths: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]
const bytesType = 6
const textType = 7

const utf8 = new TextDecoder()

/**
 * Decodes `application/vnd.amazon.eventstream`.
 *
 * **Contract**
 * - `onMessage` is called synchronously, once per message, with its text headers and payload. Other headers are skipped. The payload is a
 *   view of reused memory: read it immediately.
 * - Both checksums are verified first. A damaged or invalid message, or one over 24 MiB, throws `ProviderError` `network`. `feed` rethrows
 *   errors of `onMessage`. Do not use the decoder after either.
 * - Messages do not depend on how bytes are split. Complete messages are read in place, and other messages are copied once.
 *
 * Source: docs/providers/bedrock.md
 */
export function createAwsEventDecoder(onMessage: (headers: EventHeaders, payload: Uint8Array) => void): AwsEventDecoder {
  const readHeaders = headerReader()
  const prelude = new Uint8Array(preludeLength)
  /** The buffer to fill: the prelude, then the whole message. */
  let partial = prelude
  let filled = 0

  const report = (message: Uint8Array): void => {
    const view = viewOf(message)
    if (view.getUint32(message.length - 4) !== crc32(message, 0, message.length - 4)) throw damaged('message')
    const headersEnd = preludeLength + view.getUint32(4)
    onMessage(readHeaders(message.subarray(preludeLength, headersEnd)), message.subarray(headersEnd, -4))
  }

  /** Copies missing bytes to the buffer. Returns where it stopped. */
  const fill = (bytes: Uint8Array, from: number): number => {
    const to = Math.min(bytes.length, from + partial.length - filled)
    partial.set(bytes.subarray(from, to), filled)
    filled += to - from
    if (filled < partial.length) return to
    if (partial === prelude) {
      partial = new Uint8Array(lengthOf(prelude))
      partial.set(prelude)
    } else {
      const message = partial
      partial = prelude
      filled = 0
      report(message)
    }
    return to
  }

  return {
    get isInside() {
      return filled > 0
    },
    feed(bytes) {
      let at = 0
      while (at < bytes.length) {
        if (filled === 0 && bytes.length - at >= preludeLength) {
          const end = at + lengthOf(bytes.subarray(at, at + preludeLength))
          if (end <= bytes.length) {
            report(bytes.subarray(at, end))
            at = end
            continue
          }
        }
        at = fill(bytes, at)
      }
    },
  }
}

/** Reads the message length from `prelude`. */
function lengthOf(prelude: Uint8Array): number {
  const view = viewOf(prelude)
  if (view.getUint32(8) !== crc32(prelude, 0, 8)) throw damaged('prelude')
  const length = view.getUint32(0)
  if (length < minLength || length > maxLength || view.getUint32(4) > length - minLength) {
    throw new ProviderError('network', `A message of the event stream declares an impossible length of ${length} bytes.`, {
      isRetryable: length <= maxLength,
    })
  }
  return length
}

/** Caches decoded headers, because most messages in a stream have identical headers. */
function headerReader(): (bytes: Uint8Array) => EventHeaders {
  let last = new Uint8Array()
  let headers: EventHeaders = new Map()
  return (bytes) => {
    if (isEqual(bytes, last)) return headers
    last = bytes.slice()
    try {
      headers = decodeHeaders(last)
    } catch {
      throw new ProviderError('network', 'A message of the event stream has invalid headers.')
    }
    return headers
  }
}

/** Throws for inconsistent headers. */
function decodeHeaders(bytes: Uint8Array): EventHeaders {
  const view = viewOf(bytes)
  const headers = new Map<string, string>()
  let at = 0
  while (at < bytes.length) {
    const typeAt = at + 1 + view.getUint8(at)
    const name = utf8.decode(bytes.subarray(at + 1, typeAt))
    const type = view.getUint8(typeAt)
    const fixed = valueLengths[type]
    if (fixed === undefined && type !== bytesType && type !== textType) throw new RangeError('no such type')
    const start = typeAt + (fixed === undefined ? 3 : 1)
    at = start + (fixed ?? view.getUint16(typeAt + 1))
    if (at > bytes.length) throw new RangeError('too long')
    if (type === textType) headers.set(name, utf8.decode(bytes.subarray(start, at)))
  }
  return headers
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function damaged(part: string): ProviderError {
  return new ProviderError(
    'network',
    `The response is not a valid event stream: the checksum of a ${part} does not match. Retry; if the error persists, check baseUrl.`,
  )
}
