import type { ProgressMessageEvent } from '../contract/run/call-event.ts'

/** Bytes of a status line without its text, before and after packing: array slots and a string header, as measured in V8. */
const lineBytes = 64
const packedBytes = 16
const charBytes = 2
/** Maximum number of calls per run, because each line searches them. */
const mostCalls = 16

/**
 * Stores consecutive status lines of one or more calls without an event object for each line.
 *
 * **Contract**
 * - Events are created on demand and equal the added events. No event is lost.
 * - `pack` reduces it to one text, and four numbers per line.
 */
export class ProgressRun {
  /** Estimated bytes retained in memory. */
  bytes = 0
  /** One event per call, for the fields that its lines share. */
  readonly #calls: ProgressMessageEvent[] = []
  #lines: Lines = { texts: [], seqs: [], ats: [], calls: [] }
  readonly #base: { seq: number; at: number }

  constructor(first: ProgressMessageEvent) {
    this.#base = { seq: first.seq, at: first.at }
    this.add(first)
  }

  /** `seq` of the newest event. */
  get seq(): number {
    const { seqs } = this.#lines
    return this.#base.seq + (seqs[seqs.length - 1] ?? 0)
  }

  /** Appends an event. Returns false if there is no room for its call. */
  add(event: ProgressMessageEvent): boolean {
    let call = this.#calls.findIndex((known) => isSameCall(known, event))
    if (call === -1) {
      if (this.#calls.length === mostCalls) return false
      call = this.#calls.push(event) - 1
    }
    const lines = unpacked(this.#lines)
    lines.texts.push(event.text)
    lines.seqs.push(event.seq - this.#base.seq)
    lines.ats.push(event.at - this.#base.at)
    lines.calls.push(call)
    this.#lines = lines
    this.bytes += lineBytes + charBytes * event.text.length
    return true
  }

  /** Returns the first event after `cursor`, which must precede the newest. */
  after(cursor: number): ProgressMessageEvent {
    const { seqs } = this.#lines
    let low = 0
    let high = seqs.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#base.seq + (seqs[middle] ?? 0) <= cursor) low = middle + 1
      else high = middle
    }
    return this.#event(low)
  }

  /** Packs the lines, when no more are expected soon. */
  pack(): void {
    if ('ends' in this.#lines) return
    const { texts, seqs, ats, calls } = this.#lines
    let end = 0
    const ends = Int32Array.from(texts, (text) => {
      end += text.length
      return end
    })
    this.#lines = { text: texts.join(''), ends, seqs: Int32Array.from(seqs), ats: Float64Array.from(ats), calls: Uint8Array.from(calls) }
    this.bytes = packedBytes * texts.length + charBytes * end
  }

  #event(index: number): ProgressMessageEvent {
    const { seqs, ats, calls } = this.#lines
    const event = this.#calls[calls[index] ?? 0]
    // Every line belongs to a call.
    if (event === undefined) throw new RangeError(`no line ${index}`)
    return { ...event, seq: this.#base.seq + (seqs[index] ?? 0), at: this.#base.at + (ats[index] ?? 0), text: textAt(this.#lines, index) }
  }
}

/** Unpacked lines: offsets of `seq` and `at` from the first line, and the index of their call. */
interface LooseLines {
  texts: string[]
  seqs: number[]
  ats: number[]
  calls: number[]
}

/** The same data in fewer bytes. */
interface PackedLines {
  text: string
  ends: Int32Array
  seqs: Int32Array
  ats: Float64Array
  calls: Uint8Array
}

type Lines = LooseLines | PackedLines

function textAt(lines: Lines, index: number): string {
  if ('texts' in lines) return lines.texts[index] ?? ''
  return lines.text.slice(index === 0 ? 0 : lines.ends[index - 1], lines.ends[index])
}

function unpacked(lines: Lines): LooseLines {
  if ('texts' in lines) return lines
  const { ends, seqs, ats, calls } = lines
  return { texts: Array.from(ends, (_, index) => textAt(lines, index)), seqs: [...seqs], ats: [...ats], calls: [...calls] }
}

function isSameCall(a: ProgressMessageEvent, b: ProgressMessageEvent): boolean {
  return a.toolCallId === b.toolCallId && a.loopId === b.loopId && a.toolName === b.toolName && a.runId === b.runId
}
