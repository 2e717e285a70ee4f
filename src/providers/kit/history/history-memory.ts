import type { Message } from '../../../contract/message/message.ts'
import { type Beginning, Beginnings, isSame } from './beginnings.ts'
import { HistoryWalk, type NormaliseTarget } from './normalise.ts'

/** Writes normalized messages as JSON text in order. */
export interface HistoryWriter {
  add(message: Message): void
  /** Returns a writer that continues from here and leaves this one unchanged. */
  fork(): this
}

/** An encoded history. Valid until the next call of `write`. */
export interface WrittenHistory<Writer> {
  /** The normalized messages. */
  messages: readonly Message[]
  /** The writer that received all of them. */
  writer: Writer
  /** Warnings about dropped media. */
  leftOut: ReadonlySet<string>
}

/** Cached results for the prefix before the last response, because messages after a response may still grow. */
interface Written<Writer> extends Beginning {
  head: readonly string[]
  walk: HistoryWalk
  writer: Writer
}

/**
 * Normalizes and encodes histories for one target, and caches each prefix's result, so that a turn processes only its new messages.
 *
 * **Contract**
 * - The result never depends on earlier calls. A history that does not continue a known prefix (an edit, a branch, a compaction) is encoded
 *   from its first message.
 * - `head` contains texts that affect the encoding, such as a system prompt that thinking blocks are bound to.
 */
export class HistoryMemory<Writer extends HistoryWriter> {
  readonly #target: NormaliseTarget
  readonly #begin: (head: readonly string[]) => Writer
  readonly #beginnings = new Beginnings<Written<Writer>>()

  constructor(target: NormaliseTarget, begin: (head: readonly string[]) => Writer) {
    this.#target = target
    this.#begin = begin
  }

  /** Normalizes and encodes `messages` with `head`. */
  write(messages: readonly Message[], head: readonly string[] = []): WrittenHistory<Writer> {
    const end = Math.max(
      0,
      messages.findLastIndex(({ role }) => role === 'assistant'),
    )
    const known = this.#beginnings.take(messages, end, (written) => isSame(written.head, head, head.length))
    const written = known === undefined ? undefined : this.#goOn(known, messages, end)
    if (written !== undefined) return written
    // Settle no messages, because a late result belongs before the settled messages.
    return this.#goOn(this.#nothing(head), messages, end) ?? this.#whole(messages, head)
  }

  #nothing(head: readonly string[]): Written<Writer> {
    return { messages: [], head, walk: new HistoryWalk(this.#target), writer: this.#begin(head) }
  }

  /** Settles all messages before `end` and writes the rest for this request only. Returns `undefined` if a result arrives too late. */
  #goOn(known: Written<Writer>, messages: readonly Message[], end: number): WrittenHistory<Writer> | undefined {
    const { walk, writer } = known
    walk.truncate()
    const from = walk.list.length
    for (const message of messages.slice(known.messages.length, end)) {
      known.messages.push(message)
      walk.add(message)
    }
    if (walk.isLate) return undefined
    const settled = walk.settle()
    for (let at = from; at < settled; at++) addTo(writer, walk.list[at])
    const rest = new HistoryWalk(this.#target, walk)
    addAll(rest, messages.slice(known.messages.length))
    if (rest.isLate) return undefined
    this.#beginnings.keep(known)
    return closed(rest, settled, writer.fork())
  }

  /** Writes the history without settling any message, so that no result is too late. */
  #whole(messages: readonly Message[], head: readonly string[]): WrittenHistory<Writer> {
    const { walk, writer } = this.#nothing(head)
    addAll(walk, messages)
    return closed(walk, 0, writer)
  }
}

function addAll(walk: HistoryWalk, messages: readonly Message[]): void {
  for (const message of messages) walk.add(message)
}

/** Ends `walk` and writes its messages, starting at `first`. */
function closed<Writer extends HistoryWriter>(walk: HistoryWalk, first: number, writer: Writer): WrittenHistory<Writer> {
  walk.close()
  for (let at = first; at < walk.list.length; at++) addTo(writer, walk.list[at])
  return { messages: walk.list, writer, leftOut: walk.leftOut }
}

function addTo(writer: HistoryWriter, message: Message | undefined): void {
  if (message !== undefined) writer.add(message)
}
