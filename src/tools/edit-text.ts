/** How often `target` occurs in `content`, without overlaps. */
export function countOccurrences(content: string, target: string): number {
  let count = 0
  for (let at = content.indexOf(target); at !== -1; at = content.indexOf(target, at + target.length)) count += 1
  return count
}

/** Lines of a text; a final line break begins no further line, and an empty text has none. */
export function countLines(text: string): number {
  if (text === '') return 0
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

/** The place in `content` where the first line of `target` occurs, one line longer than `target`; a hint, if there is one. */
export function similarText(content: string, target: string): string | undefined {
  const wanted = target.trim().split('\n')
  const firstLine = wanted[0]?.trim() ?? ''
  if (firstLine === '') return undefined
  const lines = content.split(/\r?\n/)
  const start = lines.findIndex((line) => line.includes(firstLine))
  return start === -1 ? undefined : lines.slice(start, start + wanted.length + 1).join('\n')
}
