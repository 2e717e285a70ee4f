/** A here-document whose lines are still to come. */
export interface HereDocument {
  end: string
  isQuoted: boolean
  stripsTabs: boolean
}

/** The lines of a here-document that begin at `from`, and where the text goes on after them. */
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

/** A line, with those that continue it after a backslash. */
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

/** Where the line ends that holds `at`. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}
