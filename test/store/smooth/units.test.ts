import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { smoothText, type TextSmoothing } from '../../../src/store.ts'
import { runs } from '../../support/runs.ts'
import { end, textDelta } from '../events.ts'
import { frameMs, shownText, streaming } from './streaming.ts'

afterEach(() => vi.unstubAllGlobals())

/** The units of `text` in the order in which they appear, if all of it arrives at once and a letter follows. */
function unitsOf(smooth: TextSmoothing, text: string): string[] {
  const { say, seen } = streaming(smooth)
  // Slowly, so that one frame shows one unit.
  for (const letter of new Intl.Segmenter().segment(`${text}X`)) {
    say(textDelta('m', letter.segment))
    vi.advanceTimersByTime(500)
  }
  const shown = seen.map(shownText).slice(2)
  vi.useRealTimers()
  return shown.map((each, index) => each.slice(shown[index - 1]?.length)).filter((each) => each !== '')
}

describe('words', () => {
  it.each([
    ['spaces', 'Hello there,  world. ', ['Hello ', 'there,  ', 'world. ']],
    ['quotes and brackets', '"Well" (he said). ', ['"Well" ', '(he ', 'said). ']],
    ['numbers and signs', 'costs $5.50 or 3% ', ['costs ', '$5.50 ', 'or ', '3% ']],
    ['Markdown', '**bold** `code`\n\n- item ', ['**bold** ', '`code`\n\n', '- ', 'item ']],
    ['Chinese', '你好世界。再见', ['你好', '世界。', '再见']],
    ['Japanese brackets', '「今日」は', ['「今日」', 'は']],
    ['Arabic', 'مرحبا، بالعالم ', ['مرحبا، ', 'بالعالم ']],
    ['emoji', 'Hi 👨‍👩‍👧 🇩🇪🇫🇷 ', ['Hi ', '👨‍👩‍👧 ', '🇩🇪', '🇫🇷 ']],
    ['combining marks', 'e\u0301te\u0301 क्षि ', ['e\u0301te\u0301 ', 'क्षि ']],
  ])('%s', (_, text, units) => {
    expect(unitsOf(smoothText('word'), text)).toEqual(units)
  })

  it.each([
    ['Hello there,  world. ', ['Hello ', 'there,  ', 'world. ']],
    ['你好。再「见', ['你', '好。', '再', '「见']],
    ['e\u0301 👨‍👩‍👧 a', ['e\u0301 ', '👨‍👩‍👧 ']],
  ])('end at white space and after ideographs without Intl.Segmenter: %s', (text, units) => {
    vi.stubGlobal('Intl', Object.create(Intl, { Segmenter: { value: undefined } }))
    const word = smoothText('word')
    vi.unstubAllGlobals()
    expect(unitsOf(word, text)).toEqual(units)
  })
})

describe('shown text', () => {
  const pieces = [
    'word',
    ' ',
    '. ',
    'e\u0301',
    '👨‍👩‍👧',
    '🇩🇪',
    '🇫🇷',
    '你好世界',
    '。',
    'สวัสดีครับ',
    'مرحبا',
    '(',
    '"',
    '\r\n',
    '\n\n',
    '👍🏽',
    'क्षि',
    '한국어',
    '-',
    '1️⃣',
  ]
  const anyText = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 30 }).map((list) => list.join(''))
  const anyPace = fc.array(fc.record({ size: fc.integer({ min: 1, max: 12 }), ms: fc.nat(400) }), { minLength: 1, maxLength: 20 })
  const units = {
    word: smoothText('word'),
    line: smoothText('line'),
    sentence: smoothText(new Intl.Segmenter('en', { granularity: 'sentence' })),
  }
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

  it.each(Object.entries(units))('grows by whole graphemes, is received text, and ends complete: %s', (_, smooth) => {
    fc.assert(
      fc.property(anyText, anyPace, (text, pace) => {
        const { say, seen, text: shown } = streaming(smooth)
        const ends = new Set([0, text.length, ...Array.from(graphemes.segment(text), ({ index }) => index)])
        const points = [...text]
        let received = ''
        let last = 0
        const check = () => {
          for (const state of seen.splice(0)) {
            const now = shownText(state)
            expect(received.startsWith(now)).toBe(true)
            expect(now.length).toBeGreaterThanOrEqual(last)
            expect(ends).toContain(now.length)
            last = now.length
          }
        }
        for (let at = 0; points.length > 0; at++) {
          const { size, ms } = pace[at % pace.length] ?? { size: 1, ms: 0 }
          const delta = points.splice(0, size).join('')
          received += delta
          say(textDelta('m', delta))
          check()
          vi.advanceTimersByTime(ms)
          check()
        }
        say(end('m', [{ type: 'text', text }]))
        expect([shown(), vi.getTimerCount()]).toEqual([text, 0])
      }),
      { numRuns: runs(100, 5000) },
    )
  })
})

describe('the work of smoothText', () => {
  /** A segmenter that counts the characters that it is given. */
  function counted(granularity: 'word' | 'sentence') {
    const segmenter = new Intl.Segmenter('en', { granularity })
    const count = { characters: 0 }
    const segment = (text: string) => {
      count.characters += text.length
      return segmenter.segment(text)
    }
    return { count, smooth: smoothText({ segment, resolvedOptions: () => segmenter.resolvedOptions() }) }
  }

  it.each([
    ['100,000 words', 'word ', 20],
    ['one word of 500,000 letters', 'words', 40],
  ])('grows with the new text alone: %s', (_, delta, times) => {
    const { count, smooth } = counted('word')
    const { say } = streaming(smooth)
    for (let sent = 0; sent < 100_000; sent++) {
      say(textDelta('m', delta))
      if (sent % 10 === 0) vi.advanceTimersByTime(frameMs)
    }
    expect(count.characters).toBeLessThan(100_000 * delta.length * times)
  })
})
