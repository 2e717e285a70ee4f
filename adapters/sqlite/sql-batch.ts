import { SessionError } from '../../src/session.ts'

/** A value for a statement. */
export type SqlValue = string | number | null | Uint8Array<ArrayBuffer>

/** One statement of SQLite with values for `?1`, `?2` and so on. */
export interface SqlStatement {
  text: string
  values: readonly SqlValue[]
  /** Whether it returns rows. */
  returns?: boolean
}

export type SqlRow = Record<string, unknown>

/**
 * Runs statements in one transaction and resolves with the rows of each. Resolves only if all changes are durable. A rejection means that
 * nothing changed, unless the outcome is unknown.
 */
export type SqlBatch = (statements: readonly SqlStatement[]) => Promise<SqlRow[][]>

const sqliteCodes: Record<number, string> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  13: 'SQLITE_FULL',
  19: 'SQLITE_CONSTRAINT',
}

/** Returns the name of SQLite's primary result code, such as `SQLITE_BUSY`, or an empty text if there is none. */
export function sqliteCode(error: unknown): string {
  const { code, errcode, message }: Record<string, unknown> = Object(error)
  if (typeof errcode === 'number') return sqliteCodes[errcode & 255] ?? `SQLITE_${errcode & 255}`
  // D1 has codes only in its messages.
  const text = typeof code === 'string' && code.startsWith('SQLITE_') ? code : /SQLITE_[A-Z]+/.exec(String(message ?? ''))?.[0]
  return /^SQLITE_[A-Z]+/.exec(text ?? '')?.[0] ?? ''
}

/** Runs `act`. Converts database failures to a `SessionError` that names `subject` and contains no values. */
export async function asked<Value>(subject: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    if (SessionError.isInstance(error)) throw error
    throw sessionError(subject, sqliteCode(error), error)
  }
}

function sessionError(subject: string, code: string, cause: unknown): SessionError {
  switch (code) {
    case 'SQLITE_CONSTRAINT':
      return new SessionError('conflict', `${subject}: another writer wrote the same record.`, { cause })
    case 'SQLITE_FULL':
      return new SessionError('quota', `${subject}: the database is full. Delete sessions, or add storage.`, { cause })
    case 'SQLITE_READONLY':
      return new SessionError('io', `${subject}: the database is read-only. Open it for writing.`, { cause })
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return new SessionError('io', `${subject}: another process has locked the database. Retry, or set a longer busyTimeoutMs.`, { cause })
    default:
      return new SessionError('io', `${subject}: SQLite failed (${code || 'no code'}). The outcome of the query is unknown. Retry.`, {
        cause,
      })
  }
}
