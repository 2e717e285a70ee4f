import { mediaIn } from '../../../src/base/json/media-blocks.ts'
import type { MediaContent } from '../../../src/contract/message/content.ts'
import type { AgentEvent, AgentMessage, SessionStore } from '../../../src/index.ts'
import { withNames } from '../../../src/internal.ts'

/** A block with its bytes, and what these are called. */
interface NamedBlock {
  block: MediaContent
  hash: string | undefined
}

/**
 * Large media of one session's events, which clients are told by name: `GET …/blobs/:hash` has their bytes.
 *
 * **Contract**
 * - Media of messages are in the store by the time their event is seen. Blocks of an answer that grows, and what tools report, are found here until the next
 *   run begins; of a picture that gets finer, and of a tool's progress, the newest.
 * - What no record of the session will have stays as it is: events of sub-agents, and what a run gives back.
 * - Nothing is named where the store keeps no bytes beside its log, or does not show at once what was written.
 */
export class NamedMedia {
  readonly #isOn: boolean
  /** By what a later one takes the place of. */
  readonly #unrecorded = new Map<string, readonly NamedBlock[]>()

  constructor({ promises }: Pick<SessionStore, 'promises'>) {
    this.#isOn = promises.media === 'beside' && promises.readAfterWrite === 'immediate'
  }

  /** A run begins: what was only reported in the one before is nobody's. */
  begin(): void {
    this.#unrecorded.clear()
  }

  /** What was said, as clients are told it. */
  async inMessages(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    return this.#isOn ? withNames(messages) : messages
  }

  /** The event as clients are told it; a promise only where bytes are hashed for the first time. */
  inEvent(event: AgentEvent): AgentEvent | Promise<AgentEvent> {
    if (!this.#isOn || !mayHaveMedia(event)) return event
    if (event.type === 'agentEnd') return withValue(withNames(event.messages), (messages) => withMessages(event, messages))
    return withValue(withNames(event), (named) => this.#noted(event, named))
  }

  /** A block with the bytes of this hash, of those that the session may not have recorded. */
  find(hash: string): MediaContent | undefined {
    for (const blocks of this.#unrecorded.values()) {
      const found = blocks.find((each) => each.hash === hash)
      if (found !== undefined) return found.block
    }
    return undefined
  }

  /** Of messages that the session may not have recorded yet, the block with the bytes of this hash: they are told before they are durable. */
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

/** Whether media of this session may be in it. An answer that begins is told without what it will be. */
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

/** Where what an event reports stands, before a record has it. */
function placeOf(event: AgentEvent): string | undefined {
  if (event.type === 'messageUpdate') return `${event.messageId} ${event.delta.contentIndex}`
  return event.type === 'toolExecutionUpdate' || event.type === 'toolExecutionEnd' ? `${event.toolCallId} ${event.type}` : undefined
}

type AgentEnd = Extract<AgentEvent, { type: 'agentEnd' }>

function withMessages(event: AgentEnd, messages: AgentEnd['messages']): AgentEnd {
  return messages === event.messages ? event : { ...event, messages }
}

/** Uses a value at once where it is there, so that an event that names nothing costs no promise. */
export function withValue<Value, Made>(value: Value | Promise<Value>, use: (value: Value) => Made): Made | Promise<Made> {
  return value instanceof Promise ? value.then(use) : use(value)
}
