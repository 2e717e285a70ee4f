import type { Citation } from '../../../contract/message/content.ts'

/** A web source and the range of the text that it supports, in zero-based UTF-16 units. */
export interface UrlCitation {
  type: 'url_citation'
  url: string
  title: string
  start_index: number
  end_index: number
}

/**
 * Converts a citation with a URL, or `undefined` for other sources. `start` and `end` delimit the text streamed so far, for citations
 * without a range.
 */
export function urlCitation({ url, title = '', range }: Citation, start: number, end: number): UrlCitation | undefined {
  if (url === undefined) return undefined
  const place =
    range === undefined ? { start_index: start, end_index: end } : { start_index: start + range.start, end_index: start + range.end }
  return { type: 'url_citation', url, title, ...place }
}
