import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32 } from '../../src/base/hash.ts'
import type { JsonValue } from '../../src/contract/json.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import {
  type DecodedLine,
  decodeLine,
  encodeLine,
  encodeRecord,
  lineStart,
  type UnplacedRecord,
} from '../../src/session/log/record-codec.ts'

const place = { epoch: 2, writer: '9f3a01bc', from: 6, seq: 7 }

function lineOf(record: UnplacedRecord): string {
  return encodeLine(lineStart(place), place.seq, encodeRecord(record))
}

function decoded(line: string): DecodedLine {
  const result = decodeLine(line)
  if ('kind' in result) throw new Error(`${result.kind}: ${result.reason}`)
  return result
}

function note(data: JsonValue): UnplacedRecord {
  return { at: 5, loopId: 'l', turnIndex: 0, entry: { type: 'input', message: { role: 'extension', id: 'm', kind: 'note', data } } }
}

function checksum(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return crc32(bytes, 0, bytes.length).toString(16).padStart(8, '0')
}

function sealed(text: string): string {
  return `${text},"crc":"${checksum(text)}"}`
}

/** Every code unit, alone or not, is as likely as any other. */
const anyString = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))

describe('encoding a record as a line', () => {
  it('writes one JSON object with position, record and checksum', () => {
    const line = lineOf({ at: 5, loopId: 'l', turnIndex: 0, entry: { type: 'turnStart', triggeredBy: 'user' } })
    const text =
      '{"v":1,"epoch":2,"writer":"9f3a01bc","from":6,"seq":7,"at":5,"loopId":"l","turnIndex":0,"type":"turnStart","body":{"triggeredBy":"user"}'
    expect(line).toBe(sealed(text))
    expect(JSON.parse(line)).toMatchObject({ v: 1, seq: 7, body: { triggeredBy: 'user' } })
  })

  it('omits undefined fields and adds a missing timestamp', () => {
    const before = Date.now()
    const { record } = decoded(lineOf({ entry: { type: 'turnStart', triggeredBy: 'user' } }))
    expect(Object.keys(record).toSorted()).toEqual(['at', 'entry', 'epoch', 'seq'])
    expect(record.at).toBeGreaterThanOrEqual(before)
  })

  it('round-trips any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), anyString, (value, text) => {
        const data = [value as JsonValue, text, { [text]: text }]
        const line = lineOf({ ...note(data), loopId: text })
        const { record } = decoded(line)
        expect(record).toEqual({ epoch: 2, seq: 7, ...note(JSON.parse(JSON.stringify(data)) as JsonValue), loopId: text })
      }),
      { numRuns: 500 },
    )
  })

  it('contains no line separator that any reader splits on', () => {
    const nasty = 'a\n\r\u2028\u2029\u0085\v\f\u0000\ud800 é 😀'
    const line = lineOf(note(nasty))
    expect(line).not.toMatch(/[\n\r\u2028\u2029\v\f]/)
    expect(line).not.toMatch(/\p{Surrogate}/u)
    expect(decoded(line).record).toMatchObject(note(nasty))
  })

  it('supports bodies of several megabytes', () => {
    const data = 'é'.repeat(2_000_000)
    expect(decoded(lineOf(note(data))).record).toMatchObject(note(data))
  })

  it('encodes every entry type', () => {
    const user = { role: 'user' as const, id: 'u', content: [], timestamp: 1 }
    const answer = { role: 'assistant' as const, content: [], stopReason: 'stop' as const, model: 'm', provider: 'p', usage: emptyUsage() }
    const result = { role: 'toolResult' as const, id: 'r', toolCallId: 'c', toolName: 't', content: [], isError: true, timestamp: 1 }
    const span = { firstId: 'u', lastId: 'u', turns: 1 }
    const tag = { kind: 'lesson' as const, text: '', createdAtTurn: 0, abandonedNodeIds: [] }
    const config = { model: 'm', provider: 'p', name: 'n', api: 'openAiCompletions' as const, baseUrl: '', reasoning: false }
    const entries: UnplacedRecord['entry'][] = [
      { type: 'input', message: user },
      { type: 'assistant', message: { ...answer, id: 'a', timestamp: 1 } },
      { type: 'toolIntent', toolCallId: 'c', toolName: 't', arguments: {}, idempotent: false },
      { type: 'toolResult', message: result },
      { type: 'compaction', overlay: { id: 'o', createdAt: 1, loopId: 'l', keepCompacted: { range: span, messages: [user] } } },
      { type: 'prune', record: { id: 'p', at: 1, messageIds: ['u'], tokensRemoved: 1 } },
      { type: 'revert', record: { id: 'v', at: 1, category: 'failure', targetNodeId: 1, abandonedNodeIds: [2], tag } },
      {
        type: 'loopStart',
        continuationKind: { kind: 'rerun', tag: '' },
        config: { ...config, contextWindow: 1, maxTokens: 1, thinkingLevel: 'off' },
      },
      { type: 'turnStart', triggeredBy: 'subAgent' },
      {
        type: 'turnRequest',
        request: { messages: [], provenance: [], tools: [], modelId: 'm', thinkingLevel: 'off', systemPrompt: '' } as never,
      },
      { type: 'loopEnd', status: 'limit', usage: emptyUsage(), error: { code: 'x', message: '' } },
      { type: 'sessionStart', agentId: 'a', formation: { type: 'inactivityTimeout', at: 1, thresholdSecs: 1 }, scope: 'persistent' },
      { type: 'history', messages: [user], state: {} },
      { type: 'childLoop', ref: { toolCallId: 'c', toolName: 't', childLoopId: 'l', childSessionId: 's' } },
      {
        type: 'parallelGroup',
        group: { allLoopIds: ['l'], selectedLoopId: 'l', selectedConfigIndex: 0, evaluationUsage: emptyUsage() },
      },
      { type: 'recovered', messages: [result] },
    ]
    for (const entry of entries) expect(decoded(lineOf({ entry })).record.entry).toEqual(entry)
  })

  it('decodes a pending approval in the format before 0.1.0', () => {
    const pending = { toolCallId: 'c', toolName: 't', arguments: {}, argumentsHash: 'h' }
    const entry = { type: 'loopEnd', status: 'paused', usage: emptyUsage(), pendingApprovals: [pending] } as never
    expect(decoded(lineOf({ entry })).record.entry).toEqual(entry)
  })

  it('rejects values that are not JSON', () => {
    const circle: JsonValue[] = []
    circle.push(circle)
    for (const data of [circle, 1n as unknown as JsonValue]) {
      expect(() => encodeRecord(note(data))).toThrowError(expect.objectContaining({ name: 'SessionError', code: 'invalidSession' }))
    }
  })
})

describe('unknown records', () => {
  const body = '{"big":12345678901234567890,"huge":1e400,"twice":1,"twice":2, "10":0,"2":[ ],"text":"\\u0041,\\"body\\":"}'

  it('preserves unknown records byte for byte, even in a copy', () => {
    const line = encodeLine(lineStart(place), place.seq, `"at":1.50,"loopId":"l","type":"hologram","body":${body}`)
    const { record, isNewer } = decoded(line)
    expect(record.entry).toMatchObject({ type: 'unknown', name: 'hologram', json: body })
    expect(isNewer).toBe(false)
    expect(encodeRecord(record)).toBe(`"at":1.5,"loopId":"l","type":"hologram","body":${body}`)
    const copy = decoded(encodeLine(lineStart(place), 8, encodeRecord(record)))
    expect(copy.record).toEqual({ ...record, seq: 8 })
  })

  it('accepts any JSON value as the body', () => {
    for (const value of ['null', '"text"', '0', '[]', 'false']) {
      const { entry } = decoded(encodeLine(lineStart(place), place.seq, `"at":1,"type":"x","body":${value}`)).record
      expect(entry).toEqual({ type: 'unknown', name: 'x', body: JSON.parse(value) as JsonValue, json: value })
    }
  })

  it('treats a malformed entry of a known type as unknown', () => {
    for (const value of ['{}', '{"message":null}', '{"message":{"role":"system","id":"a","content":[]}}', '{"__proto__":{"message":1}}']) {
      expect(decoded(encodeLine(lineStart(place), place.seq, `"at":1,"type":"input","body":${value}`)).record.entry).toMatchObject({
        type: 'unknown',
        json: value,
      })
    }
    expect(decoded(encodeLine(lineStart(place), place.seq, '"at":1,"type":"constructor","body":{}')).record.entry.type).toBe('unknown')
    expect(Reflect.get({}, 'message')).toBe(undefined)
  })

  it('treats a message with malformed blocks as unknown', () => {
    const input = (block: string) => {
      const body = `{"message":{"role":"user","id":"m","content":[${block}]}}`
      return decoded(encodeLine(lineStart(place), place.seq, `"at":1,"type":"input","body":${body}`)).record.entry.type
    }
    const broken = ['{"type":"text","text":{}}', '{"type":"thinking"}', '{"type":"image","data":1,"mimeType":"image/png"}']
    expect([...broken, '{"type":"toolCall","id":{},"name":"n","arguments":{}}'].map(input)).toEqual(Array(4).fill('unknown'))
    expect(['{"type":"text","text":""}', '{"type":"video","of":"a newer version"}'].map(input)).toEqual(['input', 'input'])
  })

  it('treats every record of a newer version as unknown', () => {
    const line = lineOf({ at: 1, entry: { type: 'turnStart', triggeredBy: 'user' } })
    const newer = sealed(line.slice(0, -18).replace('{"v":1,', '{"v":3,"more":{"body":1},'))
    const { record, isNewer } = decoded(newer)
    expect(isNewer).toBe(true)
    expect(record).toEqual({ epoch: 2, seq: 7, at: 1, entry: { type: 'unknown', name: 'turnStart', body: { triggeredBy: 'user' } } })
  })

  it('encodes a multi-line body on one line', () => {
    const entry = { type: 'unknown', name: 'x', body: { a: 1 }, json: '{\n"a":1}' } as const
    expect(encodeRecord({ at: 1, entry })).toBe('"at":1,"type":"x","body":{"a":1}')
  })
})

describe('decodeLine', () => {
  const line = lineOf(note('any text'))

  it('returns a result for any text without throwing', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => 'kind' in decodeLine(text)))
    fc.assert(fc.property(fc.json(), (text) => 'kind' in decodeLine(text)))
    fc.assert(fc.property(fc.json(), (text) => 'kind' in decodeLine(sealed(text))))
    fc.assert(fc.property(fc.json(), (text) => 'kind' in decodeLine(sealed(text.slice(0, -1)))))
  })

  it('distinguishes a missing checksum from a wrong one', () => {
    for (let length = 0; length < line.length; length++) expect(decodeLine(line.slice(0, length))).toMatchObject({ kind: 'torn' })
    expect(decodeLine(line.replace('any', 'ani'))).toMatchObject({ kind: 'corrupt' })
  })

  it('validates fields even if the checksum is correct', () => {
    const text = line.slice(0, -18)
    const wrong = [
      ['"seq":7', '"seq":5'],
      ['"seq":7', '"seq":7.5'],
      ['"epoch":2', '"epoch":"2"'],
      ['"writer":"9f3a01bc"', '"writer":1'],
      ['"v":1', '"v":0'],
      ['"at":5', '"at":null'],
      ['"loopId":"l"', '"loopId":1'],
      ['"turnIndex":0', '"turnIndex":"0"'],
      ['"type":"input"', '"kind":"input"'],
      ['"body"', '"bodies"'],
      ['"from":6', '"from":6,"whole":"x"'],
      ['"from":6', '"from":6,"base":1'],
    ] as const
    for (const [from, to] of wrong) expect(decodeLine(sealed(text.replace(from, to))), to).toMatchObject({ kind: 'corrupt' })
  })
})

it('computes the checksum over the whole line across chunk boundaries', () => {
  const encoder = new TextEncoder()
  for (const sign of ['a', 'é', '好', '𝒳']) {
    for (let shift = 0; shift < 4; shift++) {
      const body = JSON.stringify({ text: 'x'.repeat(shift) + sign.repeat(20_000) })
      const line = encodeLine(lineStart(place), place.seq, `"at":1,"loopId":"l","type":"hologram","body":${body}`)
      const text = line.slice(0, line.lastIndexOf(',"crc"'))
      const sum = crc32(encoder.encode(text), 0, encoder.encode(text).length).toString(16).padStart(8, '0')
      expect(line.slice(text.length)).toBe(`,"crc":"${sum}"}`)
    }
  }
})
