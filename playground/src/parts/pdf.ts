import type { Content, FileContent } from '../../../src/index.ts'

/** A PDF whose bytes are available. */
export type Pdf = FileContent & { data: string }

/** Returns whether a block is a PDF that can be opened. Its bytes must also start like a PDF. */
export function isPdf(block: Content): block is Pdf {
  return block.type === 'file' && /^application\/pdf(?:;|$)/i.test(block.mimeType) && block.data?.startsWith('JVBERi') === true
}

/** Milliseconds until the PDF's URL expires. Viewers read the file in parts. */
const kept = 600_000

/** Opens a PDF at a page, starting from 1, in the browser's viewer and in a new tab. Nothing in it runs in this page. */
export function openPdf({ data }: Pdf, page: number): void {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }))
  window.open(`${href}#page=${page}`, '_blank', 'noopener')
  setTimeout(() => URL.revokeObjectURL(href), kept)
}
