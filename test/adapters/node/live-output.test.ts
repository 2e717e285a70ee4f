import { describe, expect, it } from 'vitest'
import { LiveOutput } from '../../../adapters/node/bash/live-output.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** What is shown after each of `chunks`; undefined where nothing is. */
function shown(chunks: readonly Uint8Array[]): (string | undefined)[] {
  let last: string | undefined
  const live = new LiveOutput((text) => {
    last = text
  })
  return chunks.map((chunk) => {
    last = undefined
    live.push(chunk)
    return last
  })
}

describe('live output of a running command', () => {
  it('emits up to the last 8 KiB regardless of the chunk sizes', () => {
    const text = Array.from({ length: 2000 }, (_, line) => `line ${line}\n`).join('')
    expect(shown([bytes(text)])).toEqual([text.slice(-8192)])
    expect(shown([bytes('x'.repeat(8192))])).toEqual(['x'.repeat(8192)])
    expect(shown([bytes('x'.repeat(8192)), bytes('y')]).at(-1)).toBe(`${'x'.repeat(8191)}y`)
    const pieces = text.match(/.{1,700}/gs) ?? []
    expect(shown(pieces.map(bytes)).at(-1)).toBe(text.slice(-8192))
  })

  it('emits only whole characters', () => {
    expect(shown([bytes('grün').subarray(0, 3), bytes('grün').subarray(3)])).toEqual(['gr', 'grün'])
    const [text = ''] = shown([bytes(`${'ü'.repeat(8192)}x`)])
    expect(text).toBe(`${'ü'.repeat(4095)}x`)
  })

  it('emits every chunk up to 256 KiB and then once per 256 KiB', () => {
    const chunk = bytes('x'.repeat(65_536))
    const times = shown(Array.from({ length: 14 }, () => chunk)).flatMap((text, index) => (text === undefined ? [] : [index + 1]))
    expect(times).toEqual([1, 2, 3, 4, 5, 9, 13])
  })
})
