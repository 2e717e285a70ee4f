/** Key of a value in a session's log. */
export interface LogKey {
  name: string
  epoch: number
  /** `seq` of the first line. */
  seq: number
  /** Writer, so that two writers never write the same key. */
  writer: string
  /** Index of a piece of a line that exceeds a value. */
  chunk?: number
  metadata: LogKeyMetadata
}

/** The key's metadata, which lists include. */
export interface LogKeyMetadata {
  /** Lines in the value, or in the pieces. */
  lines: number
  /** UTF-16 units in the value. */
  chars: number
  /** Number of pieces, stored on the last piece, which is written last. */
  chunks?: number
  /** First `seq` of the writer. Absent in older versions. */
  from?: number
  /** Last `seq` of a session that was imported as a whole. */
  whole?: number
}

/** Prefix of a session's log. Ids contain no slash, so no prefix is the start of another. */
export const logPrefix = (sessionId: string): string => `s/${sessionId}/`

/** Prefix of the summaries of all sessions. */
export const summaryPrefix = 'i/'

/** Ends with a slash, so that no name is the start of another. */
export const summaryKeyName = (sessionId: string): string => `${summaryPrefix}${sessionId}/`

const form = /\/(\d{8})\/(\d{12})-([^/]+)(?:\/(\d{6}))?$/

/** Returns the name of a key. Names sort by epoch, then by write order. */
export function logKeyName(sessionId: string, key: Pick<LogKey, 'epoch' | 'seq' | 'writer' | 'chunk'>): string {
  const chunk = key.chunk === undefined ? '' : `/${padded(key.chunk, 6)}`
  return `${logPrefix(sessionId)}${padded(key.epoch, 8)}/${padded(key.seq, 12)}-${key.writer}${chunk}`
}

/** Parses a name. Returns `undefined` for an unknown key. */
export function parseLogKey(name: string, metadata: unknown): LogKey | undefined {
  const [, epoch, seq, writer = '', chunk] = form.exec(name) ?? []
  if (epoch === undefined || !isMetadata(metadata)) return undefined
  const key = { name, epoch: Number(epoch), seq: Number(seq), writer, metadata }
  return chunk === undefined ? key : { ...key, chunk: Number(chunk) }
}

/** Pads `count` so that names sort in its order. */
export function padded(count: number, digits: number): string {
  return String(count).padStart(digits, '0')
}

function isMetadata(value: unknown): value is LogKeyMetadata {
  return typeof value === 'object' && value !== null && 'lines' in value && 'chars' in value
}
