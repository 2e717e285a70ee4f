/** A mark in a text: the number of a source, and of its page, between two characters that no text has here (see {@link withMarks}). */
export const markPattern = /\uE000(\d{1,6})(?:\.(\d{1,6}))?\uE001/

/** Position of a citation in a text. */
export interface Mark {
  /** UTF-16 units from the beginning of the text. */
  at: number
  number: number
  /** Of a document, from 1. */
  page?: number | undefined
}

/** `text` with the numbers of sources behind what rests on them. Each stands before the blanks that end a line, so that the line stays what it is. */
export function withMarks(text: string, marks: readonly Mark[]): string {
  const own = text.replace(/[\uE000\uE001]/g, '\uFFFD')
  let marked = ''
  let from = 0
  for (const { at, number, page } of marks.toSorted((a, b) => a.at - b.at || a.number - b.number)) {
    const end = Math.max(from, own.slice(0, at).trimEnd().length)
    marked += `${own.slice(from, end)}\uE000${number}${page === undefined ? '' : `.${page}`}\uE001`
    from = end
  }
  return marked + own.slice(from)
}

/** Places where no mark can be shown. */
export function withoutMarks(text: string): string {
  return text.replace(/\uE000[\d.]*\uE001?|\uE001/g, '')
}
