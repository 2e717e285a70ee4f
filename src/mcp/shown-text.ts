import { escapeControls } from '../base/text/escape-controls.ts'

/** Ends what was cut, in the words of the other tools. */
export const truncated = '\n... (output truncated)'

/** At most `limit` characters of `text`, and a line that says so where it was longer. No half of a character stands at the cut. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')}${truncated}`
}

/** What a server wrote, as part of one line: it breaks none, hides nothing, and is no longer than `limit`. */
export function oneLine(text: unknown, limit = 200): string {
  const words = typeof text === 'object' && text !== null ? '(no text)' : String(text)
  const line = escapeControls(words.slice(0, limit + 1)).replaceAll(/[\t\n]+/g, ' ')
  return line.length > limit ? `${line.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}
