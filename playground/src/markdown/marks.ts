/**
 * A mark in a text: a source number and a page number, between two characters that do not occur in the text itself (see
 * {@link withMarks}).
 */
export const markPattern = /\uE000(\d{1,6})(?:\.(\d{1,6}))?\uE001/

/** Position of a citation in a text. */
export interface Mark {
  /** UTF-16 units from the beginning of the text. */
  at: number
  number: number
  /** Page in a document, starting from 1. */
  page?: number | undefined
}

/**
 * Returns `text` with source numbers after the passages that cite them. A number precedes trailing whitespace of a line, so that
 * the line keeps its meaning in Markdown.
 */
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

/** Returns `text` without marks, for places that cannot show them. */
export function withoutMarks(text: string): string {
  return text.replace(/\uE000[\d.]*\uE001?|\uE001/g, '')
}
