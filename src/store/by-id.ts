/** What is kept by the ids of calls. */
export type ById<Value> = Readonly<Record<string, Value>>

/**
 * `record` with `changes`, as a new object without a prototype: services and models choose the ids of calls, and `record['constructor']` must be
 * what was put there, or nothing.
 */
export function withEntries<Value>(record: ById<Value>, changes: ById<Value> = {}): Record<string, Value> {
  return Object.assign(Object.create(null), record, changes)
}
