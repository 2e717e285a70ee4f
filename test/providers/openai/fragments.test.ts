import { describe, expect, it } from 'vitest'
import { fetchOf, fixture, fixtureNames, type Outcome, play, playBytes } from './harness.ts'

const randomCuts = 10_000

/** Small and seeded, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

function cut(bytes: Uint8Array, next: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  const longest = 1 + Math.floor(next() * 200)
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(next() * longest)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

function comparable({ message, code, error, streamed, starts }: Outcome): unknown {
  return { message, code, text: error?.message, streamed, starts }
}

describe('Chat Completions, cut anywhere', () => {
  it.each(fixtureNames)('%s: at every byte', async (name) => {
    const bytes = fixture(name)
    const whole = comparable(await playBytes(bytes))
    for (let at = 1; at < bytes.length; at++) {
      expect(comparable(await play(fetchOf(bytes.subarray(0, at), bytes.subarray(at))))).toEqual(whole)
    }
  })

  it.each(fixtureNames)('%s: at random', { timeout: 60_000 }, async (name) => {
    const bytes = fixture(name)
    const whole = comparable(await playBytes(bytes))
    const next = random(name.length * 7919)
    const times = Math.ceil(randomCuts / fixtureNames.length)
    for (let time = 0; time < times; time++) expect(comparable(await play(fetchOf(...cut(bytes, next))))).toEqual(whole)
  })

  it.each(fixtureNames)('%s: byte by byte', async (name) => {
    const bytes = fixture(name)
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(comparable(await play(fetchOf(...pieces)))).toEqual(comparable(await playBytes(bytes)))
  })
})
