import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/contract/errors.ts'
import { cut, decode, type Frame, utf8 } from './frames.ts'

const frame = (data: string, event?: string): Frame => ({ event, data })

describe('createSseDecoder', () => {
  it.each<[string, string, Frame[]]>([
    ['LF', 'event: a\ndata: 1\n\ndata: 2\n\n', [frame('1', 'a'), frame('2')]],
    ['CRLF', 'event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n', [frame('1', 'a'), frame('2')]],
    ['CR', 'event: a\rdata: 1\r\rdata: 2\r\r', [frame('1', 'a'), frame('2')]],
    ['several data lines', 'data: {\ndata:"a": 1\ndata: }\n\n', [frame('{\n"a": 1\n}')]],
    ['comments and pings', ': ping\n\n:\ndata: 1\n: ping\ndata: 2\n\n', [frame('1\n2')]],
    ['other fields', 'id: 7\nretry: 10\nretry: x\nother: y\ndata: 1\n\n', [frame('1')]],
    ['empty data', 'data\n\ndata:\n\ndata: \n\n', [frame(''), frame(''), frame('')]],
    ['no data', 'event: a\n\ndata: 1\n\n', [frame('1')]],
    ['an empty name', 'event:\ndata: 1\n\n', [frame('1')]],
    ['one BOM', '\uFEFFdata: 1\n\n\uFEFFdata: 2\n\ndata: \uFEFF3\n\n', [frame('1'), frame('\uFEFF3')]],
    ['only one of two BOMs', '\uFEFF\uFEFFdata: 1\n\ndata: 2\n\n', [frame('2')]],
    ['separators that are not line breaks', 'data: a\u2028b\u0085c\n\n', [frame('a\u2028b\u0085c')]],
    ['empty input', '', []],
  ])('reads %s', (_name, text, expected) => {
    expect(decode([utf8(text)], 'end')).toEqual(expected)
    expect(decode([utf8(text)], 'cut')).toEqual(expected)
  })

  it.each(['data: 1', 'data: 1\n', 'data: 1\r', 'data: 1\r\n', 'event: \ndata: 1'])(
    'reports a last frame without a blank line at the end: %j',
    (text) => {
      expect(decode([utf8(text)], 'end')).toEqual([frame('1')])
      expect(decode([utf8(text)], 'cut')).toEqual([])
    },
  )

  it('replaces invalid UTF-8 bytes, also at the end', () => {
    expect(decode([utf8('data: a'), Uint8Array.of(0xff), utf8('b\n\n')], 'end')).toEqual([frame('a\uFFFDb')])
    expect(decode([utf8('data: a'), Uint8Array.of(0xf0, 0x9f)], 'end')).toEqual([frame('a\uFFFD')])
  })

  it('reports a frame within the feed that completes it', () => {
    const bytes = utf8('data: 1\n\ndata: 2\n\n')
    expect(decode([bytes.subarray(0, 8)], 'cut')).toEqual([])
    expect(decode([bytes.subarray(0, 9)], 'cut')).toEqual([frame('1')])
  })

  it('decodes the same frames, however the bytes are split', () => {
    const piece = fc.constantFrom(
      'data: ',
      'data:',
      'event: ',
      ': c',
      'id: 1',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      '\uFEFF',
      'é',
      '東',
      '🙂',
      'x',
      ' ',
      '{"a":1}',
    )
    const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 40 }), fc.constantFrom('end', 'cut'), (stream, positions, end) => {
        const bytes = utf8(stream)
        expect(decode(cut(bytes, positions), end)).toEqual(decode([bytes], end))
      }),
      { numRuns: 3000 },
    )
  })

  it('decodes the same frames byte by byte', () => {
    const bytes = utf8('\uFEFFevent: a\r\ndata: 東🙂\r\ndata: 2\r\rdata: 3\n\n')
    expect(
      decode(
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
        'end',
      ),
    ).toEqual([frame('東🙂\n2', 'a'), frame('3')])
  })

  it('takes linear time for a line and for a frame in many chunks', () => {
    const chunk = utf8('x'.repeat(256))
    const count = 60_000
    const [line] = decode([utf8('data: '), ...Array.from({ length: count }, () => chunk)], 'end')
    expect(line?.data.length).toBe(256 * count)
    const lines = decode(
      Array.from({ length: 200_000 }, () => utf8('data: 1\n')),
      'end',
    )
    expect(lines[0]?.data.length).toBe(2 * 200_000 - 1)
  })

  describe('with maxBufferChars', () => {
    const options = { maxBufferChars: 1000 }
    const tooLong = expect.objectContaining({ code: 'network', isRetryable: false, message: expect.stringContaining('1000 characters') })
    const failure = (chunks: string[]): unknown => {
      try {
        return decode(chunks.map(utf8), 'end', options)
      } catch (error) {
        expect(error).toBeInstanceOf(ProviderError)
        return error
      }
    }

    it('fails on a line that never ends', () => {
      expect(failure(['data: ', ...Array.from({ length: 11 }, () => 'x'.repeat(100))])).toEqual(tooLong)
    })

    it('fails on a frame that never ends', () => {
      expect(failure(Array.from({ length: 600 }, () => 'data: x\n'))).toEqual(tooLong)
    })

    it('buffers nothing that it skips', () => {
      expect(failure([':', 'c'.repeat(5000), '\n', 'other: ', 'c'.repeat(5000), '\ndata: 1\n\n'])).toEqual([frame('1')])
    })

    it('excludes completed frames from the limit', () => {
      expect(failure(Array.from({ length: 100 }, () => `data: ${'x'.repeat(900)}\n\n`))).toHaveLength(100)
    })
  })
})
