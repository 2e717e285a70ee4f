import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32 } from '../../src/base/hash.ts'
import { ProviderError } from '../../src/contract/errors.ts'
import { createAwsEventDecoder } from '../../src/stream/aws-event-stream.ts'
import { awsFrame } from '../harness/server/bedrock.ts'

interface Message {
  headers: Record<string, string>
  payload: string
}

/** What `pieces` decode to; payloads as Latin-1, one character per byte. */
function decoded(pieces: Iterable<Uint8Array>): Message[] {
  const messages: Message[] = []
  const decoder = createAwsEventDecoder((headers, payload) => {
    messages.push({ headers: Object.fromEntries(headers), payload: Buffer.from(payload).toString('latin1') })
  })
  for (const piece of pieces) decoder.feed(piece)
  return messages
}

const folder = fileURLToPath(new URL('../../../shared/conformance/eventstream', import.meta.url))
const isThere = existsSync(folder)
if (!isThere) console.warn("SKIPPED: AWS's own event-stream vectors, because ../shared/conformance is absent")

const vectors = (kind: string): string[] => (isThere ? readdirSync(`${folder}/encoded/${kind}`) : ['absent'])
const encoded = (kind: string, name: string): Uint8Array => new Uint8Array(readFileSync(`${folder}/encoded/${kind}/${name}`))

describe.skipIf(!isThere)('AWS event stream test vectors', () => {
  it.each(vectors('positive'))('decodes %s', (name) => {
    const { headers, payload }: { headers: { name: string; type: number; value: unknown }[]; payload: string } = JSON.parse(
      readFileSync(`${folder}/decoded/positive/${name}`, 'utf8'),
    )
    const texts = headers.filter(({ type }) => type === 7).map((each) => [each.name, Buffer.from(String(each.value), 'base64').toString()])
    const expected = [{ headers: Object.fromEntries(texts), payload: Buffer.from(payload, 'base64').toString('latin1') }]
    const bytes = encoded('positive', name)
    expect(decoded([bytes])).toEqual(expected)
    expect(decoded(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
  })

  it.each(vectors('negative'))('rejects %s', (name) => {
    const part = readFileSync(`${folder}/decoded/negative/${name}`, 'utf8').startsWith('Prelude') ? 'prelude' : 'message'
    const bytes = encoded('negative', name)
    expect(() => decoded([bytes])).toThrow(`checksum of a ${part} does not match`)
    expect(() => decoded(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toThrow(`checksum of a ${part} does not match`)
  })
})

const message = fc.record({
  headers: fc.dictionary(fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }), fc.string({ maxLength: 20, unit: 'binary' }), {
    maxKeys: 3,
  }),
  payload: fc.string({ unit: 'binary-ascii', maxLength: 60 }),
})

describe('the AWS event stream', () => {
  it('decodes every message, however the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat(40), { minLength: 1 }), (messages, sizes) => {
        const bytes = Buffer.concat(messages.map(({ headers, payload }) => awsFrame(headers, payload)))
        const pieces: Uint8Array[] = []
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const end = at + (sizes[n % sizes.length] ?? 0) + (n % 3 === 0 ? 1 : 0)
          pieces.push(bytes.subarray(at, end))
          at = end
        }
        expect(decoded(pieces)).toEqual(messages.map(({ headers, payload }) => ({ headers: { ...headers }, payload })))
      }),
      { numRuns: 300 },
    )
  })

  it('rejects a message with any byte changed', () => {
    const bytes = awsFrame({ ':event-type': 'a', ':message-type': 'event' }, '{"b":1}')
    for (let at = 0; at < bytes.length; at++) {
      for (const bits of [1, 0x80, 0xff]) {
        const damaged = Uint8Array.from(bytes)
        damaged[at] = (damaged[at] ?? 0) ^ bits
        expect(() => decoded([damaged]), `byte ${at}`).toThrow(ProviderError)
      }
    }
  })

  it('reports whether it is inside a message', () => {
    const bytes = awsFrame({}, 'payload')
    const decoder = createAwsEventDecoder(() => undefined)
    expect(decoder.isInside).toBe(false)
    for (let at = 0; at < bytes.length; at++) {
      decoder.feed(bytes.subarray(at, at + 1))
      expect(decoder.isInside).toBe(at < bytes.length - 1)
    }
  })

  it.each([
    ['below the minimum message length', 12, 0],
    ['above the maximum message length', 0x7fffffff, 0],
    ['with more headers than bytes', 32, 17],
  ])('rejects a prelude %s before it waits for the rest', (_what, total, headers) => {
    const prelude = Buffer.alloc(12)
    prelude.writeUInt32BE(total, 0)
    prelude.writeUInt32BE(headers, 4)
    prelude.writeUInt32BE(crc32(prelude, 0, 8), 8)
    expect(() => decoded([prelude])).toThrow(/impossible length/)
  })

  it.each([
    ['a type that does not exist', [1, 97, 10]],
    ['a value beyond the headers', [1, 97, 7, 0, 9, 98]],
    ['a name without a value', [3, 97, 98, 99]],
    ['a name beyond the headers', [200, 97]],
  ])('rejects headers with %s', (_what, headers) => {
    const bytes = Buffer.concat([Buffer.alloc(12), Buffer.from(headers), Buffer.alloc(4)])
    bytes.writeUInt32BE(bytes.length, 0)
    bytes.writeUInt32BE(headers.length, 4)
    bytes.writeUInt32BE(crc32(bytes, 0, 8), 8)
    bytes.writeUInt32BE(crc32(bytes, 0, bytes.length - 4), bytes.length - 4)
    expect(() => decoded([bytes])).toThrow(/invalid headers/)
  })

  it('computes the standard CRC-32 checksum', () => {
    expect(crc32(new TextEncoder().encode('123456789'), 0, 9)).toBe(0xcbf43926)
  })
})
