import type { SearchMatch } from '../../../src/tools/index.ts'

/** The match in a line of `rg --json`, or undefined for its other messages. */
export function readMatch(json: string): SearchMatch | undefined {
  const message: unknown = JSON.parse(json)
  if (!isRecord(message) || message.type !== 'match' || !isRecord(message.data)) return undefined
  const { path, lines, line_number: line } = message.data
  return {
    path: textOf(path).replace(/^\.\//, ''),
    line: typeof line === 'number' ? line : 0,
    text: textOf(lines).replace(/\r?\n$/, ''),
  }
}

// Text that is not UTF-8 comes as base64.
function textOf(value: unknown): string {
  if (!isRecord(value)) return ''
  if (typeof value.text === 'string') return value.text
  return typeof value.bytes === 'string' ? Buffer.from(value.bytes, 'base64').toString('utf8') : ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
