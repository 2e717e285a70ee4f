import type { Workspace } from '../../types/tool/workspace.ts'

const chunkBytes = 256 * 1024
const sniffBytes = 8192

/** Consecutive lines. */
export interface LineBatch {
  /** Number of the first line, from 1. */
  first: number
  lines: string[]
  /** Whether these are the file's last lines. */
  isLast: boolean
}

/** Input of `readLines`. */
export interface LineSource {
  workspace: Workspace
  path: string
  /** File size in bytes, from `stat`. */
  size: number
  signal: AbortSignal
  /** Maximum characters to keep per line. The rest is dropped. */
  maxLineLength: number
}

/**
 * Reads a text file in ranges, so that memory use is bounded for any file size.
 *
 * **Contract**
 * - Lines end with LF or CRLF and are returned without the line ending. A final line break does not start another line. Invalid UTF-8
 *   becomes U+FFFD,
 *   and a byte order mark is dropped.
 * - Checks `signal` between ranges, and rejects with the signal's reason after an abort.
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
    // Keep one extra character, to distinguish a carriage return at the cut from text.
    if (rest.length > maxLineLength) rest = rest.slice(0, maxLineLength + 1)
    if (isLast && rest !== '') lines.push(rest)
    yield { first, lines: lines.map((line) => trim(line, maxLineLength)), isLast }
    first += lines.length
    if (isLast) return
  }
}

/** Returns whether a file is binary: its first 8 KiB contain a NUL byte. */
function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, sniffBytes).includes(0)
}

/** Returns whether a file is binary. Reads at most 8 KiB. */
export async function isBinary(workspace: Workspace, path: string, signal: AbortSignal): Promise<boolean> {
  return looksBinary(await workspace.read(path, { start: 0, end: sniffBytes, signal }))
}

function trim(line: string, maxLength: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  return text.length > maxLength ? text.slice(0, maxLength) : text
}
