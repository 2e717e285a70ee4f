// Shared with the Cloudflare adapter. Not part of the public API.
export type { SqlBatch, SqlValue } from './sql-batch.ts'
export { maxRowBytes, sqliteLogDriver } from './sqlite-log-driver.ts'
export { assertTenant } from './sqlite-session-store.ts'
