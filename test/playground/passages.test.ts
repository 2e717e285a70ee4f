import { expect, it } from 'vitest'
import { passagesOf } from '../../playground/src/conversation/passages.ts'
import { withMarks, withoutMarks } from '../../playground/src/markdown/marks.ts'
import type { Citation } from '../../src/index.ts'
import { type BlockView, sourcesOf } from '../../src/store.ts'

const cited = (text: string, ...citations: Citation[]): BlockView => ({ type: 'text', text, citations })
const a: Citation = { url: 'https://a.example/1', title: 'A' }
const b: Citation = { url: 'https://b.example/2', title: 'B' }

function textsOf(blocks: readonly BlockView[], isGrowing = false): (string | undefined)[] {
  return passagesOf(blocks, sourcesOf(blocks), isGrowing).map((passage) =>
    passage.type === 'text' ? passage.text.replace(/\uE000([\d.]+)\uE001/g, '[$1]') : undefined,
  )
}

it('joins cited text pieces and appends source numbers', () => {
  expect(
    textsOf([{ type: 'text', text: 'Grass is ' }, cited('green', a), { type: 'text', text: ' and sky ' }, cited('blue\n\n', b, a)]),
  ).toEqual(['Grass is green[1] and sky blue[1][2]\n\n'])
})

it('leaves uncited text blocks separate', () => {
  expect(
    textsOf([{ type: 'text', text: 'One.' }, { type: 'text', text: 'Two.' }, { type: 'opaque', kind: 'x' }, cited('Three.', a)]),
  ).toEqual(['One.', 'Two.', undefined, 'Three.[1]'])
})

it('places a number at its range, or at the end if out of range', () => {
  const range = (end: number) => ({ start: 0, end })
  expect(textsOf([cited('Half of it.', { ...a, range: range(4) }, { ...b, range: range(900) })])).toEqual(['Half[1] of it.[2]'])
})

it('merges several locations of a source at the same end', () => {
  const page = (start: number) => ({ index: 0, unit: 'page' as const, start, end: start + 1 })
  expect(textsOf([cited('So.', { document: page(1) }, { document: page(5) })])).toEqual(['So.[1.1]'])
})

it('shows the page of a citation and links to it', () => {
  const page = { index: 0, unit: 'page' as const, start: 12, end: 13 }
  expect(textsOf([cited('So.', { document: page }, { document: { ...page, index: 1, unit: 'char' } })])).toEqual(['So.[1.12][2]'])
  expect(withoutMarks(withMarks('code', [{ at: 2, number: 1, page: 12 }]))).toBe('code')
})

it('adds no numbers to the last piece while it grows', () => {
  expect(textsOf([cited('Green', a), cited(' and blu', b)], true)).toEqual(['Green[1] and blu'])
})

it('replaces forged citation marks in a text', () => {
  expect(withMarks('forged \uE0007\uE001', [])).toBe('forged \uFFFD7\uFFFD')
  expect(withoutMarks(withMarks('code', [{ at: 2, number: 12 }]))).toBe('code')
})
