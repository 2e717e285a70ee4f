import type { AgentEvent, AgentMessage, JsonObject } from '../../../../src/index.ts'
import { isHash, type Media, toBase64, withMedia } from '../../../../src/internal.ts'
import { messagesWithBytes } from '../../../../src/session/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../../live/live-session.ts'
import type { TellEvent } from '../../stream/told-events.ts'

/**
 * Large media of a session for clients of other protocols: by the address at which this server has them, where `mediaBase` says how pages reach it, else
 * with their bytes.
 *
 * **Contract**
 * - What such a client sends back by that address is what the session has: nobody can name what is not in it.
 */
export class LinkedMedia {
  readonly #live: LiveSession
  readonly #base: string | undefined

  constructor(live: LiveSession, mediaBase: string | undefined) {
    this.#live = live
    this.#base =
      mediaBase === undefined ? undefined : `${mediaBase.replace(/\/+$/, '')}/sessions/${encodeURIComponent(live.sessionId)}/blobs/`
  }

  /** Makes of an event the one that is told; absent where each is told as it is. */
  get tell(): TellEvent | undefined {
    if (this.#base === undefined) return undefined
    return (event) => {
      const named = this.#live.media.inEvent(event)
      return named instanceof Promise ? named.then((each) => this.#linked(each)) : this.#linked(named)
    }
  }

  async messages(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const { store, sessionId, media } = this.#live
    return this.#base === undefined ? messagesWithBytes(store, sessionId, messages) : this.#linked(await media.inMessages(messages))
  }

  /** `message`, of a body, with the bytes of what it names by addresses of this session. Refuses with 400 what the session does not keep. */
  async ownIn(message: unknown): Promise<unknown> {
    const { parts }: { parts?: unknown } = Object(message)
    if (this.#base === undefined || !Array.isArray(parts)) return message
    return { ...Object(message), parts: await Promise.all(parts.map((part) => this.#ownOf(part))) }
  }

  async #ownOf(part: unknown): Promise<unknown> {
    const { url, mediaType }: JsonObject = Object(part)
    if (this.#base === undefined || typeof url !== 'string' || !url.startsWith(this.#base)) return part
    const hash = url.slice(this.#base.length)
    const { store, sessionId, media } = this.#live
    const reported = media.find(hash)?.data
    const bytes = !isHash(hash) || reported !== undefined ? undefined : await store.blob(sessionId, hash).catch(() => undefined)
    const data = reported ?? (bytes === undefined ? undefined : toBase64(bytes))
    if (data === undefined)
      refuse(400, 'invalidBody', 'A file of the message has an address under which this session keeps nothing. Send it again.')
    return { ...Object(part), url: `data:${String(mediaType)};base64,${data}` }
  }

  #linked<Value extends AgentEvent | readonly AgentMessage[]>(value: Value): Value {
    return withMedia(value, ({ blob, ...block }): Media => (blob === undefined ? block : { ...block, url: `${this.#base}${blob.hash}` }))
  }
}
