import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SessionRecord } from '../../src/contract/session/session-record.ts'
import { digestOf } from '../../src/session/log/digest.ts'
import { readLog } from '../../src/session/log/read-log.ts'
import { encodeLine, encodeRecord, lineStart } from '../../src/session/log/record-codec.ts'

interface More {
  writer?: string
  /** Whose records it goes on from; else those of the epoch before. */
  base?: string
  whole?: number
  text?: string
}

/** Record `seq` of a writer whose first one was `from`. Its id says who wrote it. */
function line(epoch: number, from: number, seq: number, more: More = {}): string {
  const { writer = `w${epoch}`, base = `w${epoch - 1}`, whole, text = '' } = more
  const encoded = encodeRecord({
    at: 1,
    entry: { type: 'input', message: { role: 'extension', id: `${writer}.${seq}`, kind: 'k', data: text } },
  })
  return encodeLine(lineStart({ epoch, writer, from, ...(from > 1 && { base }), ...(whole !== undefined && { whole }) }), seq, encoded)
}

/** Records `from` to `to` of a writer. */
function lines(epoch: number, from: number, to: number, more?: More): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => line(epoch, from, from + index, more))
}

/** Who wrote what counts, such as `w1.1 w1.2 w2.3`. */
function whose(records: readonly SessionRecord[]): string {
  return records.map(({ entry }) => (entry.type === 'input' ? entry.message.id : entry.type)).join(' ')
}

describe('reading an undamaged log', () => {
  it('returns no records for an empty log', () => {
    expect(readLog([])).toMatchObject({ records: [], cursor: 0, reached: 0, hasNewer: false })
  })

  it('returns records in order and ignores repeated and empty lines', () => {
    const written = lines(1, 1, 4)
    const { records, ...rest } = readLog([...written, written[1] ?? '', '', written[3] ?? ''])
    expect(records.map((record) => record.seq)).toEqual([1, 2, 3, 4])
    expect(rest).toMatchObject({ cursor: 4, reached: 4, writer: 'w1', hasNewer: false })
    expect(rest).not.toHaveProperty('damage')
  })

  it('continues with the writer of the next epoch', () => {
    const reading = readLog([...lines(1, 1, 2), ...lines(2, 3, 3), ...lines(5, 4, 5, { base: 'w2' })])
    expect(whose(reading.records)).toBe('w1.1 w1.2 w2.3 w5.4 w5.5')
    expect(reading.damage).toBe(undefined)
    expect(reading.replaced).toBe(undefined)
  })

  it('prefers the newer writer regardless of line order', () => {
    const written = [...lines(1, 1, 5), ...lines(2, 3, 4)]
    for (const text of [written, written.toReversed().toSorted()]) {
      const { records, cursor, replaced } = readLog(text)
      expect(whose(records)).toBe('w1.1 w1.2 w2.3 w2.4')
      expect(cursor).toBe(4)
      expect(replaced).toMatchObject({ kind: 'forked', afterSeq: 2, droppedChars: (written[0]?.length ?? 0) * 3 })
    }
  })

  it('omits records that the newest writer did not see', () => {
    // The second and the third have both begun after record 2, and the second was faster. The fourth has seen what the second wrote.
    const late = lines(3, 3, 4, { base: 'w1' })
    const written = [...lines(1, 1, 2), ...lines(2, 3, 6), ...late, ...lines(4, 7, 8, { base: 'w2' })]
    const { records, damage, replaced } = readLog(written)
    expect(whose(records)).toBe('w1.1 w1.2 w2.3 w2.4 w2.5 w2.6 w4.7 w4.8')
    expect(damage).toBe(undefined)
    expect(replaced).toMatchObject({ kind: 'forked', afterSeq: 2, droppedChars: late.join('').length })
  })

  it('keeps only one of two writers in the same epoch', () => {
    const a = lines(1, 1, 4, { writer: 'a' })
    const b = lines(1, 1, 2, { writer: 'b' })
    const mixed = [a[0], b[0], a[1], b[1], a[2], a[3]].map((text) => text ?? '')
    const { records, replaced } = readLog(mixed)
    expect(whose(records)).toBe('b.1 b.2')
    expect(replaced).toMatchObject({ kind: 'forked', afterSeq: 0 })
  })

  it('counts the records of all writers before a cursor', () => {
    const written = [...lines(1, 1, 2), ...lines(2, 3, 3), ...lines(5, 4, 6, { base: 'w2' })]
    for (let after = 0; after <= 7; after++) {
      const { passed, records, replaced } = readLog(written, after)
      expect(digestOf(records, passed)).toEqual(digestOf(readLog(written).records))
      expect(passed.messages).toBe(Math.min(after, 6))
      expect(replaced).toBe(undefined)
    }
  })

  it('returns records after a cursor, even without the earlier ones', () => {
    const written = [...lines(1, 1, 4), ...lines(2, 4, 6)]
    for (let after = 0; after <= 8; after++) {
      const all = readLog(written, after)
      const rest = readLog(
        written.filter((text) => JSON.parse(text).seq > after),
        after,
      )
      expect(whose(all.records)).toBe('w1.1 w1.2 w1.3 w2.4 w2.5 w2.6'.split(' ').slice(after).join(' '))
      expect(rest.records).toEqual(all.records)
      expect([all.cursor, rest.cursor]).toEqual([Math.max(after, 6), Math.max(after, 6)])
      expect([all.damage, rest.damage]).toEqual([undefined, undefined])
    }
  })
})

describe('reading a replaced session', () => {
  const before = lines(1, 1, 5)
  const whole = lines(2, 6, 9, { whole: 9 })

  it('replaces all earlier records and continues the sequence', () => {
    const { records, cursor, damage, replaced } = readLog([...before, ...whole, ...lines(3, 10, 10)])
    expect(whose(records)).toBe('w2.6 w2.7 w2.8 w2.9 w3.10')
    expect([cursor, damage, replaced]).toEqual([10, undefined, undefined])
  })

  it('reads the replacement without the earlier records', () => {
    expect(whose(readLog([...whole, ...lines(3, 10, 10)]).records)).toBe('w2.6 w2.7 w2.8 w2.9 w3.10')
  })

  it('ignores an incomplete replacement', () => {
    for (let count = 1; count < 4; count++) {
      const reading = readLog([...before, ...whole.slice(0, count)])
      expect(whose(reading.records)).toBe('w1.1 w1.2 w1.3 w1.4 w1.5')
      expect(reading.damage).toMatchObject({ kind: 'torn', afterSeq: 5 })
      const next = readLog([...before, ...whole.slice(0, count), ...lines(3, 6, 6, { base: 'w1' })])
      expect(whose(next.records)).toBe('w1.1 w1.2 w1.3 w1.4 w1.5 w3.6')
      expect(next.damage).toBe(undefined)
    }
  })

  it("returns no records before the replacement's last record", () => {
    for (const count of [1, 2, 3]) {
      const reading = readLog(whole.slice(0, count))
      expect([whose(reading.records), reading.cursor, reading.damage]).toMatchObject(['', 0, { kind: 'torn', afterSeq: 0 }])
    }
  })

  it('reads up to the damage in a completed replacement', () => {
    const reading = readLog([...whole.slice(0, 2), ...whole.slice(3)])
    expect(whose(reading.records)).toBe('w2.6 w2.7')
    expect(reading.damage).toMatchObject({ kind: 'corrupt', afterSeq: 7 })
  })

  it('returns the whole replacement to a reader with an older cursor', () => {
    for (const after of [3, 5]) expect(whose(readLog([...before, ...whole], after).records)).toBe('w2.6 w2.7 w2.8 w2.9')
    expect(whose(readLog(whole.slice(2), 7).records)).toBe('w2.8 w2.9')
  })
})

describe('reading a damaged log', () => {
  const written = lines(1, 1, 4)
  const at = (index: number) => written[index] ?? ''

  it('tolerates CRLF line endings and a byte order mark', () => {
    const copied = [...written.map((line, index) => `${index === 0 ? '\ufeff' : ''}${line}\r`), '\r']
    expect(readLog(copied)).toEqual(readLog(written))
  })

  it('reads up to a torn last line', () => {
    const torn = at(3).slice(0, 40)
    expect(readLog([...written.slice(0, 3), torn])).toMatchObject({
      cursor: 3,
      damage: { kind: 'torn', afterSeq: 3, droppedChars: 40, reason: 'A line has no checksum at its end.' },
    })
  })

  it('reads up to a corrupt, missing or torn line', () => {
    const { records, damage } = readLog([at(0), at(1).replace('"k"', '"j"'), at(2), at(3)])
    expect(whose(records)).toBe('w1.1')
    expect(damage).toEqual({
      kind: 'corrupt',
      afterSeq: 1,
      droppedChars: at(1).length * 3,
      reason: 'The checksum of a line does not match.',
    })
    expect(readLog([at(0), at(2)]).damage).toMatchObject({ kind: 'corrupt', afterSeq: 1, reason: 'Record 2 is missing or damaged.' })
    expect(readLog([at(0), at(1).slice(5), at(2)]).damage).toMatchObject({ kind: 'corrupt', afterSeq: 1 })
    expect(readLog([at(1)]).damage).toMatchObject({ kind: 'corrupt', afterSeq: 0, reason: 'Record 1 is missing or damaged.' })
    expect(readLog(['', 'garbage']).damage).toMatchObject({ kind: 'torn', afterSeq: 0, droppedChars: 7 })
  })

  it('reads the whole log after a newer writer has continued', () => {
    const damaged = [...written.slice(0, 2), at(2).slice(9), at(3)]
    const { records, damage, cursor } = readLog([...damaged, ...lines(2, 3, 3)])
    expect(whose(records)).toBe('w1.1 w1.2 w2.3')
    expect([damage, cursor]).toEqual([undefined, 3])
  })

  it("ignores an older writer's records after the damage", () => {
    const [first = '', ...others] = lines(2, 3, 5)
    const { records, damage } = readLog([...written, first.slice(0, -1), ...others])
    expect(whose(records)).toBe('w1.1 w1.2')
    expect(damage).toMatchObject({ kind: 'corrupt', afterSeq: 2 })
  })

  it('rejects records whose base writer is missing', () => {
    const { records, damage } = readLog([...written, ...lines(3, 4, 5, { base: 'w2' })])
    expect(whose(records)).toBe('w1.1 w1.2 w1.3')
    expect(damage).toMatchObject({ kind: 'corrupt', afterSeq: 3 })
    expect(readLog(lines(3, 4, 5)).damage).toMatchObject({ kind: 'corrupt', afterSeq: 0, reason: 'Record 1 is missing or damaged.' })
    const circle = [...lines(1, 2, 2, { base: 'w2' }), ...lines(2, 3, 3, { base: 'w1' })]
    expect(readLog(circle).records).toEqual([])
    expect(readLog(lines(2, 3, 3, { base: 'w2' })).records).toEqual([])
  })

  it('stops before records that follow undetected damage', () => {
    const { records, damage } = readLog([at(0), at(2), at(3), ...lines(2, 5, 6)])
    expect(whose(records)).toBe('w1.1')
    expect(damage).toMatchObject({ kind: 'corrupt', afterSeq: 1, droppedChars: [at(2), at(3), ...lines(2, 5, 6)].join('').length })
  })
})

describe('reading a log damaged at any byte', () => {
  // Two writers, the second of which replaces what the first had written too late; then a third.
  const own = [1, 2, 3, 4].map((seq) => line(1, 1, seq, { text: 'é' }))
  const sealedLines = [...own, ...[3, 4, 5].map((seq) => line(2, 3, seq, { text: '😀' })), ...lines(3, 6, 7)]
  const bytes = new TextEncoder().encode(`${sealedLines.join('\n')}\n`)
  const truth = readLog(sealedLines).records
  const read = (file: Uint8Array) => readLog(new TextDecoder().decode(file).split('\n'))
  /** How many records of the whole log certainly count when the line with this byte does not, and the one after it. */
  const safeBefore = (offset: number): number => {
    const index = new TextDecoder().decode(bytes.subarray(0, offset)).split('\n').length - 1
    return readLog(sealedLines.slice(0, index)).records.filter((record, at) => record.epoch === truth[at]?.epoch).length
  }

  it('returns a valid prefix and reports the flipped byte', () => {
    expect(whose(truth)).toBe('w1.1 w1.2 w2.3 w2.4 w2.5 w3.6 w3.7')
    for (let offset = 0; offset < bytes.length; offset++) {
      const safe = safeBefore(offset)
      const byte = bytes[offset] ?? 0
      // One bit, another letter case, no UTF-8 any more, and the end of a line.
      for (const put of [byte ^ (1 << (offset % 8)), byte ^ 0x20, byte ^ 0x80, 0x0a]) {
        if (put === byte) continue
        const flipped = bytes.slice()
        flipped[offset] = put
        const { records, damage } = read(flipped)
        const isPrefix = records.every((record, index) => record.epoch === truth[index]?.epoch && record.seq === index + 1)
        const isReported = records.length === truth.length || damage !== undefined
        if (!isPrefix || records.length < safe || !isReported) expect.fail(`byte ${offset} as ${put}: ${whose(records)}`)
      }
    }
  })

  it('returns one record per complete line if truncated', () => {
    const same = lines(1, 1, 6)
    const file = new TextEncoder().encode(`${same.join('\n')}\n`)
    const length = (same[0]?.length ?? 0) + 1
    for (let end = 0; end <= file.length; end++) {
      const { records, damage } = read(file.subarray(0, end))
      expect(records.length).toBe(Math.floor((end + 1) / length))
      expect(damage?.kind).toBe((end + 1) % length <= 1 ? undefined : 'torn')
    }
  })

  it('returns a gapless prefix after random edits without throwing', () => {
    const edit = fc.record({ at: fc.nat(bytes.length), length: fc.nat(300), put: fc.uint8Array({ maxLength: 40 }) })
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 5 }), (edits) => {
        let file: Uint8Array = bytes
        for (const { at, length, put } of edits) file = new Uint8Array([...file.subarray(0, at), ...put, ...file.subarray(at + length)])
        const { records, cursor } = read(file)
        expect(records.map((record) => record.seq)).toEqual(records.map((_, index) => index + 1))
        expect(cursor).toBe(records.length)
      }),
      { numRuns: 1000 },
    )
  })
})

it('reads each line once, in linear time', () => {
  let reads = 0
  const counted = new Proxy(lines(1, 1, 2000), {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++
      return Reflect.get(target, key)
    },
  })
  expect(readLog(counted).records.length).toBe(2000)
  expect(reads).toBe(2000)
})
