/**
 * `npm run bench partial-json`: a megabyte of JSON in 100,000 pieces, read once at the end, beside joining the pieces and one `JSON.parse`; and read after
 * each piece, of one megabyte and of two: twice the text, twice the time.
 */
import { PartialJson } from '../../src/context.ts'

const texts: Record<string, (bytes: number) => string> = {
  'one text': (bytes) => JSON.stringify({ text: 'abcdefghi '.repeat(bytes / 10) }),
  'rows of a table': (bytes) => JSON.stringify({ rows: Array.from({ length: bytes / 22 }, (_, at) => ({ n: at % 1000, b: 'text' })) }),
  numbers: (bytes) => JSON.stringify(Array.from({ length: bytes / 7 }, (_, at) => 100_000 + at)),
  keys: (bytes) => JSON.stringify(Object.fromEntries(Array.from({ length: bytes / 18 }, (_, at) => [`k${at}`, `v${at}`]))),
}

const piecesOf = (text: string): string[] => text.match(/[\s\S]{1,10}/g) ?? []

/** Milliseconds of each: the fastest of some runs, by turns, because a heap that has grown serves both. */
function fastest(runs: number, ...works: readonly (() => unknown)[]): number[] {
  const times = works.map(() => Infinity)
  for (let run = 0; run < runs; run += 1)
    for (const [at, work] of works.entries()) {
      const start = performance.now()
      work()
      times[at] = Math.min(times[at] ?? Infinity, performance.now() - start)
    }
  return times
}

function bare(pieces: readonly string[]): unknown {
  let text = ''
  for (const piece of pieces) text += piece
  return JSON.parse(text)
}

function once(pieces: readonly string[]): unknown {
  const json = new PartialJson()
  for (const piece of pieces) json.push(piece)
  return json.value
}

function eachTime(pieces: readonly string[], read: (json: PartialJson) => unknown): void {
  const json = new PartialJson()
  for (const piece of pieces) {
    json.push(piece)
    read(json)
  }
}

const mega = 1_000_000
const rows = Object.entries(texts).map(([what, textOf]) => {
  const [one, two] = [piecesOf(textOf(mega)), piecesOf(textOf(2 * mega))]
  const [own = 0, least = 0] = fastest(
    25,
    () => once(one),
    () => bare(one),
  )
  const ratio = own / least
  const twice = (read: (json: PartialJson) => unknown): string =>
    fastest(3, ...[one, two].map((pieces) => () => eachTime(pieces, read)))
      .map((ms) => ms.toFixed(0))
      .join(' → ')
  return {
    what,
    'at the end, over bare': ratio.toFixed(2),
    goal: `≤ 1.3${ratio <= 1.3 ? '' : ', missed'}`,
    'value each time, ms': twice((json) => json.value),
    'snapshot each time, ms': twice((json) => json.snapshot()),
  }
})
console.table(rows)
