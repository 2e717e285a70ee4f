import { mediaIn } from '../../../src/base/json/media-blocks.ts'
import type { MediaContent } from '../../../src/contract/message/content.ts'
import type { AgentEvent, AgentMessage, SessionStore } from '../../../src/index.ts'
import { withNames } from '../../../src/internal.ts'

/** A block with its bytes and their name. */
interface NamedBlock {
  block: MediaContent
  hash: string | undefined
}

/**
 * Large media of one session's events, which clients get by name: `GET …/blobs/:hash` returns their bytes.
 *
 * **Contract**
 * - Media of messages are stored before their event is seen. Blocks of a streaming response, and tool progress, are kept here
 *   until the next run; of a picture that is refined, and of a tool's progress, only the newest.
 * - Media without a record stay inline: events of sub-agents, and messages that a run returns.
 * - Nothing is named if the store keeps bytes in its log, or is not strongly consistent.
 */
export class NamedMedia {
  readonly #isOn: boolean
  /** By the block that a later one replaces. */
  readonly #unrecorded = new Map<string, readonly NamedBlock[]>()

  constructor({ promises }: Pick<SessionStore, 'promises'>) {
    this.#isOn = promises.media === 'beside' && promises.readAfterWrite === 'immediate'
  }

  /** Starts a run: unrecorded media of the previous one are released. */
  begin(): void {
    this.#unrecorded.clear()
  }

  /** Returns messages for clients. */
  async inMessages(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    return this.#isOn ? withNames(messages) : messages
  }

  /** Returns the event for clients; a promise only if bytes are hashed for the first time. */
  inEvent(event: AgentEvent): AgentEvent | Promise<AgentEvent> {
    if (!this.#isOn || !mayHaveMedia(event)) return event
    if (event.type === 'agentEnd') return withValue(withNames(event.messages), (messages) => withMessages(event, messages))
    return withValue(withNames(event), (named) => this.#noted(event, named))
  }

  /** Returns the block with the bytes of this hash among unrecorded ones. */
  find(hash: string): MediaContent | undefined {
    for (const blocks of this.#unrecorded.values()) {
      const found = blocks.find((each) => each.hash === hash)
      if (found !== undefined) return found.block
    }
    return undefined
  }

  /**
   * Returns the block with the bytes of this hash from messages that may not be recorded yet: clients see them before they are
   * durable.
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

/** Returns the place of unrecorded media in an event. */
function placeOf(event: AgentEvent): string | undefined {
  if (event.type === 'messageUpdate') return `${event.messageId} ${event.delta.contentIndex}`
  return event.type === 'toolExecutionUpdate' || event.type === 'toolExecutionEnd' ? `${event.toolCallId} ${event.type}` : undefined
}

type AgentEnd = Extract<AgentEvent, { type: 'agentEnd' }>

function withMessages(event: AgentEnd, messages: AgentEnd['messages']): AgentEnd {
  return messages === event.messages ? event : { ...event, messages }
}

/** Uses an available value synchronously, so that an event without media costs no promise. */
export function withValue<Value, Made>(value: Value | Promise<Value>, use: (value: Value) => Made): Made | Promise<Made> {
  return value instanceof Promise ? value.then(use) : use(value)
}
