import { readFileSync } from 'node:fs'
import { cutPlaces } from '../../testing/provider/cut-places.ts'
import { runs } from '../support/runs.ts'

/** Deterministic random numbers in [0, 1): the same seed gives the same cuts. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns the places between `from` and `until` at which a stream is cut or damaged, in order. `npm run soak` tries every byte. `npm test` tries
 * 80 seeded places, the borders of frames with two bytes on each side, and the insides of characters.
 */
export function cutsOf(bytes: Uint8Array, { from = 0, until = bytes.length } = {}): number[] {
  const atBorders = [from, from + 1, until - 2, until - 1].filter((at) => at >= from && at < until)
  const places = [...cutPlaces(bytes, runs(80, bytes.length)), ...atBorders].filter((at) => at >= from && at < until)
  return [...new Set(places)].toSorted((left, right) => left - right)
}

/** The bytes of a fixture. */
export function fixture(path: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`../fixtures/${path}`, import.meta.url)))
}

/** `bytes` in pieces of random length, empty ones among them. */
export function shredded(bytes: Uint8Array, random: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const next = Math.min(bytes.length, at + Math.floor(random() * random() * 200))
    pieces.push(bytes.subarray(at, next))
    at = next
  }
  return pieces
}

/** How a body ends after its last piece. */
export type Ending = 'close' | 'hang' | 'break'

/** A response body, and whether its reader let go of it. */
export interface Body {
  stream: ReadableStream<Uint8Array>
  isCancelled: () => boolean
}

/** A body that yields `pieces`, one per read. */
export function bodyOf(pieces: Iterable<Uint8Array>, ending: Ending = 'close'): Body {
  const iterator = pieces[Symbol.iterator]()
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = iterator.next()
      if (!done) controller.enqueue(value)
      else if (ending === 'close') controller.close()
      else if (ending === 'break') controller.error(new TypeError('terminated'))
      else return new Promise(() => undefined)
    },
    cancel() {
      isCancelled = true
    },
  })
  return { stream, isCancelled: () => isCancelled }
}

/** A `fetch` that answers every call with an event stream of `pieces`. */
export function answering(pieces: Iterable<Uint8Array>, ending: Ending = 'close'): typeof fetch {
  return async () => new Response(bodyOf(pieces, ending).stream, { headers: { 'content-type': 'text/event-stream' } })
}

/** Frames of an event stream, one per value; strings are sent as they are. */
export function sse(...values: readonly unknown[]): Uint8Array {
  return utf8(values.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join(''))
}

/** UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
