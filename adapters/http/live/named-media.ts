import { mediaIn } from '../../../src/base/json/media-blocks.ts'
import type { MediaContent } from '../../../src/contract/message/content.ts'
import type { AgentEvent, AgentMessage, EventOf, SessionStore } from '../../../src/index.ts'
import { withNames } from '../../../src/internal.ts'

/** A block with its bytes and their hash. */
interface NamedBlock {
  block: MediaContent
  hash: string | undefined
}

/**
 * Large media in one session's events, which clients fetch by hash with `GET …/blobs/:hash`.
 *
 * **Contract**
 * - Stores media in messages before clients receive the event. Holds blocks from streaming responses and tool progress in memory until the
 *   next run. Retains only the newest block of a refined image or of a tool's progress.
 * - Unrecorded media stay inline. They occur in sub-agent events and in messages that a run returns.
 * - All media stay inline if the store keeps bytes in its log or is not strongly consistent.
 */
export class NamedMedia {
  readonly #isOn: boolean
  /** Unrecorded blocks, by the key under which a later block replaces them. */
  readonly #unrecorded = new Map<string, readonly NamedBlock[]>()

  constructor({ promises }: Pick<SessionStore, 'promises'>) {
    this.#isOn = promises.media === 'beside' && promises.readAfterWrite === 'immediate'
  }

  /** Starts a run. Releases the previous run's unrecorded media. */
  begin(): void {
    this.#unrecorded.clear()
  }

  /** Converts messages to the form sent to clients. */
  async inMessages(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    return this.#isOn ? withNames(messages) : messages
  }

  /** Converts an event to the form sent to clients. Returns a promise only if bytes must be hashed for the first time. */
  inEvent(event: AgentEvent): AgentEvent | Promise<AgentEvent> {
    if (!this.#isOn || !mayHaveMedia(event)) return event
    if (event.type === 'agentEnd') return withValue(withNames(event.messages), (messages) => withMessages(event, messages))
    return withValue(withNames(event), (named) => this.#noted(event, named))
  }

  /** Returns the unrecorded block whose bytes have this hash. */
  find(hash: string): MediaContent | undefined {
    for (const blocks of this.#unrecorded.values()) {
      const found = blocks.find((each) => each.hash === hash)
      if (found !== undefined) return found.block
    }
    return undefined
  }

  /**
   * Finds the block whose bytes have this hash in messages that may not be recorded yet. Clients receive messages before they are durable.
   */
  async among(messages: readonly AgentMessage[], hash: string): Promise<MediaContent | undefined> {
    const names = mediaIn(await this.inMessages(messages))
    return mediaIn(messages)[names.findIndex(({ blob }) => blob?.hash === hash)]
  }

  #noted(event: AgentEvent, named: AgentEvent): AgentEvent {
    const place = named === event ? undefined : placeOf(event)
    if (place === undefined) return named
    const names = mediaIn(named)
    this.#unrecorded.set(
      place,
      mediaIn(event).map((block, at) => ({ block, hash: names[at]?.blob?.hash })),
    )
    return named
  }
}

/** Returns whether an event may contain media. The start of a streaming response does not. */
function mayHaveMedia(event: AgentEvent): boolean {
  switch (event.type) {
    case 'messageUpdate':
      return event.delta.type === 'block'
    case 'messageStart':
      return event.message.role !== 'assistant'
    case 'messageEnd':
    case 'turnEnd':
    case 'agentEnd':
    case 'toolExecutionUpdate':
    case 'toolExecutionEnd':
      return true
    default:
      return false
  }
}

/** Returns the key of unrecorded media in an event. */
function placeOf(event: AgentEvent): string | undefined {
  if (event.type === 'messageUpdate') return `${event.messageId} ${event.delta.contentIndex}`
  return event.type === 'toolExecutionUpdate' || event.type === 'toolExecutionEnd' ? `${event.toolCallId} ${event.type}` : undefined
}

type AgentEnd = EventOf<'agentEnd'>

function withMessages(event: AgentEnd, messages: AgentEnd['messages']): AgentEnd {
  return messages === event.messages ? event : { ...event, messages }
}

/** Passes a value to `use`, synchronously if it is not a promise, so that events without media need no promise. */
export function withValue<Value, Made>(value: Value | Promise<Value>, use: (value: Value) => Made): Made | Promise<Made> {
  return value instanceof Promise ? value.then(use) : use(value)
}
