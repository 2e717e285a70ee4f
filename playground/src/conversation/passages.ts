import type { BlockView, Source } from '../../../src/store.ts'
import { type Mark, withMarks } from '../markdown/marks.ts'

type TextView = BlockView & { type: 'text' }

/** A unit of display: one block, or the text of several blocks. */
export type Passage =
  | { at: number; type: 'text'; text: string; isLast: boolean }
  | { at: number; type: 'block'; block: Exclude<BlockView, TextView>; isLast: boolean }

/**
 * Returns a message's blocks as displayed. Providers split cited text into pieces. These become one text that contains the numbers of
 * its `sources`, starting from 1. The last piece of a growing text has no numbers yet.
 */
export function passagesOf(blocks: readonly BlockView[], sources: readonly Source[], isGrowing: boolean): Passage[] {
  const marks = marksOf(sources, blocks)
  const passages: Passage[] = []
  let before: TextView | undefined
  for (const [at, block] of blocks.entries()) {
    const isLast = at === blocks.length - 1
    const last = passages.at(-1)
    if (block.type !== 'text') passages.push({ at, type: 'block', block, isLast })
    else {
      const text = isGrowing && isLast ? block.text : withMarks(block.text, marks.get(at) ?? [])
      if (last?.type === 'text' && before !== undefined && (cites(before) || cites(block)))
        Object.assign(last, { text: last.text + text, isLast })
      else passages.push({ at, type: 'text', text, isLast })
    }
    before = block.type === 'text' ? block : undefined
  }
  return passages
}

function cites({ citations = [] }: TextView): boolean {
  return citations.length > 0
}

/** Finds the citation positions in each block. Counts several citations of one source at the same position once. */
function marksOf(sources: readonly Source[], blocks: readonly BlockView[]): Map<number, Mark[]> {
  const marks = new Map<number, Mark[]>()
  for (const [index, { citations }] of sources.entries()) {
    for (const { contentIndex, range, document: within } of citations) {
      const block = blocks[contentIndex]
      const length = block?.type === 'text' ? block.text.length : 0
      const page = within?.unit === 'page' ? within.start : undefined
      const mark = { at: Math.min(range?.end ?? length, length), number: index + 1, page }
      const known = marks.get(contentIndex) ?? []
      marks.set(contentIndex, known)
      if (!known.some(({ at, number }) => at === mark.at && number === mark.number)) known.push(mark)
    }
  }
  return marks
}
