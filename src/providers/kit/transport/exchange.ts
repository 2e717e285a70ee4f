import type { RateLimits } from '../../../contract/model/rate-limits.ts'
import type { EncodedCall } from '../codec.ts'
import type { StreamDecoder } from '../decode/decoder.ts'
import type { TransportOptions } from '../provider-options.ts'

/** One model call on the wire. */
export interface Exchange {
  /** The service, for people: `Anthropic`. */
  service: string
  call: EncodedCall
  /** The key inside `call`, or its secret parts, to keep them out of messages: looked for when there is one. */
  secrets: () => readonly string[]
  decoder: StreamDecoder
  /** Owned by the caller. */
  signal: AbortSignal
  transport: TransportOptions
  /** What a browser user can do when the service refuses cross-origin calls. */
  browserHint?: string | undefined
  /** Told what the service said of its rate limits, once its headers are there. */
  onRateLimits?: (limits: RateLimits) => void
  /** Told what the service said when it refused, as text or as parsed JSON, before the call rejects. */
  onRefusal?: (body: unknown) => void
}
