import type { EventStore } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** Maximum characters of JSON that a session stores for disconnected clients, in addition to the newest message. */
const maxKept = 1024 * 1024

interface Kept {
  eventId: string
  streamId: string
  message: JSONRPCMessage
  length: number
}

/** Stores a session's last messages, so that a client can resume a broken connection. */
export class EventMemory implements EventStore {
  readonly #kept: Kept[] = []
  #length = 0
  #count = 0

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1
    const eventId = `${this.#count}`
    const { length } = JSON.stringify(message)
    this.#kept.push({ eventId, streamId, message, length })
    this.#length += length
    while (this.#length > maxKept && this.#kept.length > 1) this.#length -= this.#kept.shift()?.length ?? 0
    return eventId
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#kept.find((kept) => kept.eventId === eventId)?.streamId
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#kept.findIndex(({ eventId }) => eventId === lastEventId)
    const streamId = this.#kept[at]?.streamId ?? ''
    for (const { eventId, message, ...kept } of this.#kept.slice(at + 1)) {
      // The first message of a stream is empty.
      if (kept.streamId === streamId && Object.keys(message).length > 0) await send(eventId, message)
    }
    return streamId
  }
}
