import type { Citation } from '../../../contract/message/content.ts'

/** A source on the web, and what of the text rests on it: UTF-16 units from 0. */
export interface UrlCitation {
  type: 'url_citation'
  url: string
  title: string
  start_index: number
  end_index: number
}

/** A source that has an address; `undefined` for another. `start` is where its text begins, `end` where that ended when it was cited. */
export function urlCitation({ url, title = '', range }: Citation, start: number, end: number): UrlCitation | undefined {
  if (url === undefined) return undefined
  const place =
    range === undefined ? { start_index: start, end_index: end } : { start_index: start + range.start, end_index: start + range.end }
  return { type: 'url_citation', url, title, ...place }
}
