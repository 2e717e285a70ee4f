/** A here-document whose lines follow. */
export interface HereDocument {
  end: string
  isQuoted: boolean
  stripsTabs: boolean
}

/** Returns the lines of a here-document that starts at `from`, and the position after it. */
export function documentAt(text: string, from: number, document: HereDocument): { body: string; next: number; isEnded: boolean } {
  const lines: string[] = []
  let at = from
  while (at < text.length) {
    const { line, next } = lineAt(text, at, document)
    at = next
    if (line === document.end) return { body: lines.join('\n'), next: at, isEnded: true }
    lines.push(line)
  }
  return { body: lines.join('\n'), next: at, isEnded: false }
}

/** Returns a line with its continuations after backslashes. */
function lineAt(text: string, from: number, { isQuoted, stripsTabs }: HereDocument): { line: string; next: number } {
  const parts: string[] = []
  let at = from
  for (;;) {
    const close = lineEnd(text, at)
    const written = text.slice(at, close)
    at = close + 1
    const goesOn = !isQuoted && at < text.length && /(?<!\\)(?:\\\\)*\\$/.test(written)
    parts.push(goesOn ? written.slice(0, -1) : written)
    if (!goesOn) break
  }
  const line = parts.join('')
  return { line: stripsTabs ? line.replace(/^\t+/, '') : line, next: at }
}

/** Returns the end of the line at `at`. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}
