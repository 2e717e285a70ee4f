import type { Message } from '../../../contract/message/message.ts'
import { type Beginning, Beginnings, isSame } from './beginnings.ts'
import { HistoryWalk, type NormaliseTarget } from './normalise.ts'

/** Writes normalised messages as JSON text, one after the other. */
export interface HistoryWriter {
  add(message: Message): void
  /** A writer that goes on from here and leaves this one as it is. */
  fork(): this
}

/** A history as a target takes it. Valid until the next call of `write`. */
export interface WrittenHistory<Writer> {
  /** The normalised messages. */
  messages: readonly Message[]
  /** Has got all of them. */
  writer: Writer
  /** What media were left out, as warnings. */
  leftOut: ReadonlySet<string>
}

/** What was made of the beginning of a conversation: of all before its last answer, because what follows an answer may still grow. */
interface Written<Writer> extends Beginning {
  head: readonly string[]
  walk: HistoryWalk
  writer: Writer
}

/**
 * Normalises and writes histories for one target, and remembers what it made of the beginning of each: a turn costs what is new in it.
 *
 * **Contract**
 * - The result is that of a new memory, whatever was written before. What does not go on from a known beginning (an edit, a branch, a compaction) is
 *   written from the first message.
 * - `head` are the texts beside the messages that the writing depends on, such as a system prompt that reasoning is bound to.
 */
export class HistoryMemory<Writer extends HistoryWriter> {
  readonly #target: NormaliseTarget
  readonly #begin: (head: readonly string[]) => Writer
  readonly #beginnings = new Beginnings<Written<Writer>>()

  constructor(target: NormaliseTarget, begin: (head: readonly string[]) => Writer) {
    this.#target = target
    this.#begin = begin
  }

  /** `messages`, normalised and written behind `head`. */
  write(messages: readonly Message[], head: readonly string[] = []): WrittenHistory<Writer> {
    const end = Math.max(
      0,
      messages.findLastIndex(({ role }) => role === 'assistant'),
    )
    const known = this.#beginnings.take(messages, end, (written) => isSame(written.head, head, head.length))
    const written = known === undefined ? undefined : this.#goOn(known, messages, end)
    if (written !== undefined) return written
    // A result that comes late belongs before what would be settled: then nothing is.
    return this.#goOn(this.#nothing(head), messages, end) ?? this.#whole(messages, head)
  }

  #nothing(head: readonly string[]): Written<Writer> {
    return { messages: [], head, walk: new HistoryWalk(this.#target), writer: this.#begin(head) }
  }

  /** Settles everything before `end`, and writes the rest for this time only. `undefined` where a result comes too late for that. */
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

  /** Settles nothing, so no result comes too late. */
  #whole(messages: readonly Message[], head: readonly string[]): WrittenHistory<Writer> {
    const { walk, writer } = this.#nothing(head)
    addAll(walk, messages)
    return closed(walk, 0, writer)
  }
}

function addAll(walk: HistoryWalk, messages: readonly Message[]): void {
  for (const message of messages) walk.add(message)
}

/** Ends `walk`, and writes its list from `first` on. */
function closed<Writer extends HistoryWriter>(walk: HistoryWalk, first: number, writer: Writer): WrittenHistory<Writer> {
  walk.close()
  for (let at = first; at < walk.list.length; at++) addTo(writer, walk.list[at])
  return { messages: walk.list, writer, leftOut: walk.leftOut }
}

function addTo(writer: HistoryWriter, message: Message | undefined): void {
  if (message !== undefined) writer.add(message)
}
