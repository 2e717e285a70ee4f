import { isHighSurrogate } from '../../../src/base/text/characters.ts'

/** The part of a Durable Object namespace binding that the stores use. */
export interface ObjectNamespace {
  getByName(name: string): ObjectStub
}

/** One Durable Object, seen from outside. */
export interface ObjectStub {
  fetch(request: Request): Promise<Response>
}

/** The part of the constructor's state that the objects use. */
export interface ObjectState {
  readonly storage: ObjectStorage
  blockConcurrencyWhile<Value>(action: () => Promise<Value>): Promise<Value>
}

/** The SQLite storage of an object. */
export interface ObjectStorage {
  readonly sql: {
    exec<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): SqlCursor<Row>
  }
  transactionSync<Value>(action: () => Value): Value
  get<Value>(key: string): Promise<Value | undefined>
  put<Value>(key: string, value: Value): Promise<void>
  /** Resolves when all earlier writes are durable. */
  sync(): Promise<void>
  deleteAll(): Promise<void>
  /** Schedules a call of `alarm()`, in epoch milliseconds; it starts the object if necessary. Replaces the alarm before. */
  setAlarm(at: number): Promise<void>
  deleteAlarm(): Promise<void>
}

/** A value of a SQLite column. */
export type SqlValue = string | number | null | ArrayBuffer

/** The rows of a query. */
export interface SqlCursor<Row> extends Iterable<Row> {
  toArray(): Row[]
  readonly rowsWritten: number
}

/**
 * Returns strictly increasing times above `latest`, so that lists have an order: the clock of a Worker stands still while it
 * computes.
 */
export function risingClock(latest = 0): () => number {
  let last = latest
  return () => {
    last = Math.max(Date.now(), last + 1)
    return last
  }
}

/**
 * Splits `text` into pieces of at most `maxBytes` bytes of UTF-8, never within a surrogate pair, which UTF-8 would lose. An empty
 * text is one empty piece. `maxBytes` is at least 6.
 */
export function splitText(text: string, maxBytes: number): string[] {
  // No UTF-16 unit needs more than three bytes.
  const most = Math.floor(maxBytes / 3)
  const pieces: string[] = []
  for (let start = 0; start < text.length; start = start + (pieces.at(-1)?.length ?? 0)) {
    const end = start + most
    const isInside = end < text.length && isHighSurrogate(text.charCodeAt(end - 1))
    pieces.push(text.slice(start, isInside ? end - 1 : end))
  }
  return pieces.length === 0 ? [''] : pieces
}
