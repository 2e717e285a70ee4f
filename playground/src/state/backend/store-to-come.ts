import type { AgentEvent, AgentMessage, SessionStore } from '../../../../src/index.ts'
import type { JournaledConversation, JournalRecord, LoopPlace, SessionJournal } from '../../../../src/session.ts'

/**
 * A store that is still loading, for a conversation that starts meanwhile.
 *
 * **Contract**
 * - While `isAhead`, the records before a response do not wait for the store, so that its first words appear early. The response itself
 *   waits. It is complete once all records are durable, and fails if the store rejects one or cannot be loaded.
 * - Earlier records reach the store in order and unchanged, even if it loads only at the second attempt.
 */
export function storeToCome(coming: () => Promise<SessionStore>, isAhead: () => boolean): SessionStore {
  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'nothing' },
    journal: (options) => new JournalToCome(async () => (await coming()).journal(options), isAhead),
    open: async (...asked) => (await coming()).open(...asked),
    tail: async (...asked) => (await coming()).tail(...asked),
    blob: async (...asked) => (await coming()).blob(...asked),
    load: async (...asked) => (await coming()).load(...asked),
    salvage: async (...asked) => (await coming()).salvage(...asked),
    save: async (...asked) => (await coming()).save(...asked),
    rename: async (...asked) => (await coming()).rename(...asked),
    list: async (...asked) => (await coming()).list(...asked),
    listIds: async () => (await coming()).listIds(),
    listForAgent: async (...asked) => (await coming()).listForAgent(...asked),
    delete: async (...asked) => (await coming()).delete(...asked),
  }
}

/** Records that precede the first response of a conversation. */
const beforeAnswer: readonly string[] = [
  'sharedState',
  'loopStart',
  'turnStart',
  'input',
  'turnRequest',
] satisfies JournalRecord['entry']['type'][]

class JournalToCome implements SessionJournal {
  readonly #coming: () => Promise<SessionJournal>
  readonly #isAhead: () => boolean
  readonly #seen = new WeakMap<JournaledConversation, SeenConversation>()
  /** Calls to make once the store is available. */
  #waiting: ((journal: SessionJournal) => unknown)[] = []
  #arriving: Promise<SessionJournal> | undefined
  #journal: SessionJournal | undefined
  #hasAnswered = false

  constructor(coming: () => Promise<SessionJournal>, isAhead: () => boolean) {
    this.#coming = coming
    this.#isAhead = isAhead
  }

  async open(place: LoopPlace, conversation: JournaledConversation) {
    if (this.#journal !== undefined) return this.#journal.open(place, this.#seenOf(conversation))
    // A new conversation has no other writer.
    this.#pass(conversation, (journal, seen) => journal.open(place, seen)).catch(() => undefined)
    return undefined
  }

  append(record: JournalRecord, conversation: JournaledConversation): Promise<void> {
    if (this.#journal !== undefined) return this.#journal.append(record, this.#seenOf(conversation))
    const written = this.#pass(conversation, (journal, seen) => ({ written: journal.append(record, seen) })).then(({ written }) => written)
    this.#hasAnswered ||= !beforeAnswer.includes(record.entry.type)
    if (this.#hasAnswered || !this.#isAhead()) return written
    // Later calls report the failure.
    written.catch(() => undefined)
    return Promise.resolve()
  }

  event(event: AgentEvent): void {
    this.#journal?.event?.(event)
    if (this.#journal !== undefined) return
    // Copied, because the message of a started response grows.
    const snapshot = event.type === 'messageStart' ? structuredClone(event) : event
    this.#waiting.push((journal) => journal.event?.(snapshot))
  }

  async media(...asked: Parameters<SessionJournal['media']>) {
    return (await this.#arrive()).media(...asked)
  }

  async close(): Promise<void> {
    if (this.#journal ?? this.#arriving) await (await this.#arrive()).close()
  }

  /** Queues `act`, which gets the conversation as it is now. */
  #pass<Result>(
    conversation: JournaledConversation,
    act: (journal: SessionJournal, seen: JournaledConversation) => Result | Promise<Result>,
  ): Promise<Result> {
    const seen = this.#seenOf(conversation)
    const { messages, state, formation } = conversation
    const now: Moment = { messages, length: messages.length, state, formation }
    return new Promise((resolve, reject) => {
      this.#waiting.push(async (journal) => {
        seen.moment = now
        try {
          resolve(await act(journal, seen))
        } catch (error) {
          reject(error)
        }
        seen.moment = undefined
      })
      this.#arrive().catch(reject)
    })
  }

  #arrive(): Promise<SessionJournal> {
    this.#arriving ??= this.#arrived()
    return this.#arriving
  }

  async #arrived(): Promise<SessionJournal> {
    try {
      const journal = await this.#coming()
      // The list may grow during the loop.
      for (const act of this.#waiting) await act(journal)
      this.#waiting = []
      this.#journal = journal
      return journal
    } catch (error) {
      // The queued calls are made with the next attempt.
      this.#arriving = undefined
      throw error
    }
  }

  /** Returns the same object each time, because stores identify conversations by reference. */
  #seenOf(conversation: JournaledConversation): JournaledConversation & SeenConversation {
    const known = this.#seen.get(conversation) ?? new SeenConversation(conversation)
    this.#seen.set(conversation, known)
    return known
  }
}

/** A snapshot of a conversation, whose list may have grown since. */
interface Moment extends JournaledConversation {
  length: number
}

/** A conversation at the time of a record, or now. */
class SeenConversation implements JournaledConversation {
  /** If absent, the current state. */
  moment: Moment | undefined
  readonly #now: JournaledConversation
  /** The first messages in `#of`, in one growing list, because stores identify lists by reference too. */
  #messages: AgentMessage[] = []
  #of: readonly AgentMessage[] | undefined

  constructor(conversation: JournaledConversation) {
    this.#now = conversation
  }

  get messages(): readonly AgentMessage[] {
    const { messages } = this.moment ?? this.#now
    if (messages !== this.#of) this.#messages = []
    this.#of = messages
    for (const message of messages.slice(this.#messages.length, this.moment?.length)) this.#messages.push(message)
    return this.#messages
  }

  get state() {
    return (this.moment ?? this.#now).state
  }

  get formation() {
    return (this.moment ?? this.#now).formation
  }
}
