import type { Citation, DocumentPlace } from '../../contract/message/content.ts'

/** A Messages API citation of any kind. */
interface WireCitation {
  type?: unknown
  cited_text?: unknown
  url?: unknown
  title?: unknown
  source?: unknown
  file_id?: unknown
  document_title?: unknown
  document_index?: unknown
  search_result_index?: unknown
  start_char_index?: unknown
  end_char_index?: unknown
  start_page_number?: unknown
  end_page_number?: unknown
  start_block_index?: unknown
  end_block_index?: unknown
}

/** Location fields by citation kind; none for kinds without a location. */
const places: Readonly<Record<string, (wire: WireCitation) => DocumentPlace | undefined>> = {
  char_location: (wire) => placeOf('char', wire.document_index, wire.start_char_index, wire.end_char_index),
  page_location: (wire) => placeOf('page', wire.document_index, wire.start_page_number, wire.end_page_number),
  content_block_location: (wire) => placeOf('block', wire.document_index, wire.start_block_index, wire.end_block_index),
  search_result_location: (wire) => placeOf('block', wire.search_result_index, wire.start_block_index, wire.end_block_index),
  web_search_result_location: () => undefined,
}

/** Returns whether the kind of a citation is known. */
export function isKnownCitation(wire: WireCitation): boolean {
  return typeof wire.type === 'string' && Object.hasOwn(places, wire.type)
}

/**
 * Converts a citation. The result has no range, because the API cites whole text blocks. Source:
 * https://docs.claude.com/en/docs/build-with-claude/citations
 */
export function citationOf(wire: WireCitation): Citation {
  const url = textOf(wire.url) ?? textOf(wire.source)
  const title = textOf(wire.title) ?? textOf(wire.document_title)
  const citedText = textOf(wire.cited_text)
  const fileId = textOf(wire.file_id)
  const place = typeof wire.type === 'string' && Object.hasOwn(places, wire.type) ? places[wire.type]?.(wire) : undefined
  return {
    ...(url !== undefined && { url }),
    ...(title !== undefined && { title }),
    ...(citedText !== undefined && { citedText }),
    ...(place !== undefined && { document: place }),
    ...(fileId !== undefined && { fileId }),
  }
}

function placeOf(unit: DocumentPlace['unit'], index: unknown, start: unknown, end: unknown): DocumentPlace | undefined {
  const isPlace = typeof index === 'number' && typeof start === 'number' && typeof end === 'number'
  return isPlace ? { index, unit, start, end } : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
