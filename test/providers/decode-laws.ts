import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/contract/errors.ts'
import { type AssistantMessage, shownContent } from '../../src/contract/message/message.ts'
import { runs } from '../support/runs.ts'
import { cutsOf, seeded, shredded } from './bytes.ts'
import type { Outcome } from './model-call.ts'

/** Recorded answers of one protocol, and how they are played. */
export interface DecodedAnswers {
  names: readonly string[]
  bytesOf: (name: string) => Uint8Array
  replay: (pieces: Iterable<Uint8Array>) => Promise<Outcome>
  /** Random fragmentations, shared out among the answers. */
  fragmentations: number
}

/** What must not depend on how the bytes were cut. Ids that a decoder made are unique everywhere. */
function essence({ message, error, events }: Outcome): string {
  const kept = (each: AssistantMessage | undefined) => ({ ...each, timestamp: 0 })
  const deltas = events.map((event) => (event.type === 'start' ? event.type : event))
  const failure = error instanceof ProviderError ? { ...error, message: error.message, partial: kept(error.partial) } : (error ?? null)
  return JSON.stringify([kept(message), failure, deltas]).replace(/call_[0-9a-f]{32}/g, 'made')
}

/** What holds for every decoder, as tests: `streamProviderSuite` has the same laws in the strength that a suite for others can have. */
export function decodeLaws({ names, bytesOf, replay, fragmentations }: DecodedAnswers): void {
  it('gives every delta the index of its block in the finished message', async () => {
    for (const name of names) {
      const { message, events } = await replay([bytesOf(name)])
      if (message === undefined) continue
      const texts = new Map<number, string>()
      for (const event of events) {
        if (!('contentIndex' in event) || event.type === 'block' || event.type === 'citation') continue
        const block = shownContent(message)[event.contentIndex]
        expect(block?.type).toBe(event.type === 'toolCallDelta' ? 'toolCall' : event.type)
        if (event.type === 'toolCallDelta') expect(block).toMatchObject({ id: event.toolCallId, name: event.toolName })
        texts.set(event.contentIndex, (texts.get(event.contentIndex) ?? '') + event.delta)
      }
      shownContent(message).forEach((block, index) => {
        if (block.type === 'text') expect(texts.get(index) ?? '').toBe(block.text)
        if (block.type === 'thinking') expect(texts.get(index) ?? '').toBe(block.thinking)
        if (block.type !== 'toolCall') return
        const json = texts.get(index) ?? ''
        if (block.invalidArguments !== undefined) expect(json).toBe(block.invalidArguments)
        else expect(JSON.parse(json || '{}') ?? {}).toEqual(block.arguments)
      })
    }
  })

  describe('decoding at any chunk boundary', () => {
    it.each(names)('decodes %s cut in two', async (name) => {
      const bytes = bytesOf(name)
      const whole = essence(await replay([bytes]))
      for (const at of cutsOf(bytes, { from: 1 })) {
        if (essence(await replay([bytes.subarray(0, at), bytes.subarray(at)])) !== whole) expect.fail(`cut at ${at}`)
      }
    })

    it.each(names)('decodes %s byte by byte', async (name) => {
      const bytes = bytesOf(name)
      const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
      expect(essence(await replay(pieces))).toBe(essence(await replay([bytes])))
    })

    it.each(names)(`decodes %s in its share of ${fragmentations} random fragmentations`, async (name) => {
      const bytes = bytesOf(name)
      const whole = essence(await replay([bytes]))
      const random = seeded(names.indexOf(name) + 1)
      for (let round = 0; round < Math.ceil(fragmentations / names.length); round++) {
        if (essence(await replay(shredded(bytes, random))) !== whole) expect.fail(`round ${round}`)
      }
    })
  })

  it('returns a message or throws a ProviderError for any bytes', async () => {
    const damage = fc.record({
      source: fc.constantFrom(...names.map(bytesOf)),
      edits: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.nat(255) }), { maxLength: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(damage, async ({ source, edits }) => {
        const bytes = source.slice()
        for (const { at, byte } of edits) bytes[Math.floor(at * (bytes.length - 1))] = byte
        const { message, error } = await replay([bytes])
        expect(message !== undefined || error instanceof ProviderError).toBe(true)
      }),
      { numRuns: runs(100, 1000) },
    )
  })
}
