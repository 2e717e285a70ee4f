/** What a key of a session's log says about the value behind it. */
export interface LogKey {
  name: string
  epoch: number
  /** Of the first line. */
  seq: number
  /** The writer's, so that two writers never write the same key. */
  writer: string
  /** Position among the pieces of one line that is too long for a value. */
  chunk?: number
  metadata: LogKeyMetadata
}

/** Kept beside the value, where a list shows it. */
export interface LogKeyMetadata {
  /** Lines in the value, or in the pieces. */
  lines: number
  /** UTF-16 units in the value. */
  chars: number
  /** On the last piece, which is written last: how many there are. */
  chunks?: number
  /** The first `seq` of the writer. Older versions did not write it. */
  from?: number
  /** Of a session that was stored as a whole: its last `seq`. */
  whole?: number
}

/** Where the log of a session is. Ids have no slash, so no session's prefix begins another's. */
export const logPrefix = (sessionId: string): string => `s/${sessionId}/`

/** Where the summaries of all sessions are. */
export const summaryPrefix = 'i/'

/** Ends with a slash, so that no name begins another. */
export const summaryKeyName = (sessionId: string): string => `${summaryPrefix}${sessionId}/`

const form = /\/(\d{8})\/(\d{12})-([^/]+)(?:\/(\d{6}))?$/

/** The name of a key; names sort in the order of epoch, then of writing. */
export function logKeyName(sessionId: string, key: Pick<LogKey, 'epoch' | 'seq' | 'writer' | 'chunk'>): string {
  const chunk = key.chunk === undefined ? '' : `/${padded(key.chunk, 6)}`
  return `${logPrefix(sessionId)}${padded(key.epoch, 8)}/${padded(key.seq, 12)}-${key.writer}${chunk}`
}

/** Reads a name back; undefined for a key that is none of ours. */
export function parseLogKey(name: string, metadata: unknown): LogKey | undefined {
  const [, epoch, seq, writer = '', chunk] = form.exec(name) ?? []
  if (epoch === undefined || !isMetadata(metadata)) return undefined
  const key = { name, epoch: Number(epoch), seq: Number(seq), writer, metadata }
  return chunk === undefined ? key : { ...key, chunk: Number(chunk) }
}

/** `count` such that names sort in its order. */
export function padded(count: number, digits: number): string {
  return String(count).padStart(digits, '0')
}

function isMetadata(value: unknown): value is LogKeyMetadata {
  return typeof value === 'object' && value !== null && 'lines' in value && 'chars' in value
}
