import type { Workspace } from '../../types/tool/workspace.ts'

const chunkBytes = 256 * 1024
const sniffBytes = 8192

/** Consecutive lines. */
export interface LineBatch {
  /** Number of the first line, from 1. */
  first: number
  lines: string[]
  /** Whether the file ends after these lines. */
  isLast: boolean
}

/** Input of `readLines`. */
export interface LineSource {
  workspace: Workspace
  path: string
  /** Bytes, from `stat`. */
  size: number
  signal: AbortSignal
  /** Characters kept per line; the rest is dropped. */
  maxLineLength: number
}

/**
 * Reads a text file in ranges, so that any size takes bounded memory.
 *
 * **Contract**
 * - Lines end with LF or CRLF, which are not part of them; a final line break begins no further line. Invalid UTF-8 becomes U+FFFD, a
 *   byte order mark is dropped.
 * - Between ranges it rejects with the reason of `signal` once that has aborted.
 */
export async function* readLines(source: LineSource): AsyncGenerator<LineBatch, void, undefined> {
  const { workspace, path, size, signal, maxLineLength } = source
  const decoder = new TextDecoder()
  let rest = ''
  let first = 1
  for (let start = 0; start < size; start += chunkBytes) {
    signal.throwIfAborted()
    const end = Math.min(start + chunkBytes, size)
    const bytes = await workspace.read(path, { start, end, signal })
    const isLast = end === size || bytes.length < end - start
    const lines = (rest + decoder.decode(bytes, { stream: !isLast })).split('\n')
    rest = lines.pop() ?? ''
    // Keeps one character more, so that a carriage return at the cut can be told apart from text.
    if (rest.length > maxLineLength) rest = rest.slice(0, maxLineLength + 1)
    if (isLast && rest !== '') lines.push(rest)
    yield { first, lines: lines.map((line) => trim(line, maxLineLength)), isLast }
    first += lines.length
    if (isLast) return
  }
}

/** Whether the start of a file is binary: one of its first 8 KiB is NUL. */
function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, sniffBytes).includes(0)
}

/** Whether a file is binary. Reads at most 8 KiB. */
export async function isBinary(workspace: Workspace, path: string, signal: AbortSignal): Promise<boolean> {
  return looksBinary(await workspace.read(path, { start: 0, end: sniffBytes, signal }))
}

function trim(line: string, maxLength: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  return text.length > maxLength ? text.slice(0, maxLength) : text
}
