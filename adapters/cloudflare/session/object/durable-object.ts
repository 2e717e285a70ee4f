/** What the stores use of a Durable Object namespace binding. */
export interface ObjectNamespace {
  getByName(name: string): ObjectStub
}

/** One Durable Object, seen from outside. */
export interface ObjectStub {
  fetch(request: Request): Promise<Response>
}

/** What the objects use of the state that the platform hands to their constructor. */
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
  /** Resolves when everything written so far is durable. */
  sync(): Promise<void>
  deleteAll(): Promise<void>
  /** Calls `alarm()` of the object at this time, epoch ms, and starts the object for it. Replaces the alarm before. */
  setAlarm(at: number): Promise<void>
  deleteAlarm(): Promise<void>
}

/** What a column of SQLite holds. */
export type SqlValue = string | number | null | ArrayBuffer

/** The rows of a query. */
export interface SqlCursor<Row> extends Iterable<Row> {
  toArray(): Row[]
  readonly rowsWritten: number
}
