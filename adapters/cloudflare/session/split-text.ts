import { isHighSurrogate } from '../../../src/internal.ts'

/**
 * Cuts `text` into pieces of at most `maxBytes` bytes of UTF-8, never between the two halves of a character: what is stored as UTF-8 would lose
 * them. An empty text is one empty piece. `maxBytes` is at least 6.
 */
export function splitText(text: string, maxBytes: number): string[] {
  // No UTF-16 unit needs more than three bytes.
  const most = Math.floor(maxBytes / 3)
  const pieces: string[] = []
  for (let start = 0; start < text.length; start = start + (pieces.at(-1)?.length ?? 0)) {
    const end = start + most
    const isInside = end < text.length && isHighSurrogate(text.charCodeAt(end - 1))
    pieces.push(text.slice(start, isInside ? end - 1 : end))
  }
  return pieces.length === 0 ? [''] : pieces
}
