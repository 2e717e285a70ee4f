/** The part of a Durable Object namespace binding that the stores use. */
export interface ObjectNamespace {
  getByName(name: string): ObjectStub
}

/** A Durable Object, accessed from outside. */
export interface ObjectStub {
  fetch(request: Request): Promise<Response>
}

/** The part of a Durable Object's state that the objects use. */
export interface ObjectState {
  readonly storage: ObjectStorage
  blockConcurrencyWhile<Value>(action: () => Promise<Value>): Promise<Value>
}

/** An object's SQLite storage. */
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
  /**
   * Schedules a call to `alarm()` at this time (epoch milliseconds). The call starts the object if necessary. Replaces the previous alarm.
   */
  setAlarm(at: number): Promise<void>
  deleteAlarm(): Promise<void>
}

/** Value of a SQLite column. */
export type SqlValue = string | number | null | ArrayBuffer

/** A query's rows. */
export interface SqlCursor<Row> extends Iterable<Row> {
  toArray(): Row[]
  readonly rowsWritten: number
}

/**
 * Returns strictly increasing times above `latest`, so that lists have an order. A Worker's clock does not advance during computation.
 */
export function risingClock(latest = 0): () => number {
  let last = latest
  return () => {
    last = Math.max(Date.now(), last + 1)
    return last
  }
}
