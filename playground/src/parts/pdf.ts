import type { Content, FileContent } from '../../../src/index.ts'

/** A PDF whose bytes are here. */
export type Pdf = FileContent & { data: string }

/** Whether a block is a PDF that can be opened: its bytes say so as well. */
export function isPdf(block: Content): block is Pdf {
  return block.type === 'file' && /^application\/pdf(?:;|$)/i.test(block.mimeType) && block.data?.startsWith('JVBERi') === true
}

/** How long its address holds: a viewer reads it in pieces. */
const kept = 600_000

/** Opens a PDF at a page, from 1, in the browser's own viewer and in a tab of its own: nothing in it runs in this page. */
export function openPdf({ data }: Pdf, page: number): void {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }))
  window.open(`${href}#page=${page}`, '_blank', 'noopener')
  setTimeout(() => URL.revokeObjectURL(href), kept)
}
