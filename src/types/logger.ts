import type { JsonObject } from '../contract/json.ts'

/**
 * Receives warnings about dropped, truncated or retried work, and about failed runs that no caller observed. A server also logs requests,
 * runs and operator commands with `info`.
 *
 * **Contract**
 * - `event` is a stable camelCase name. `fields` are plain JSON without secrets. `message` and `hint` are full sentences if present.
 * - A logger that throws or rejects is ignored.
 * - Without a `logger`, each warning is written to the console once. `false` disables logging.
 *
 * Source: docs/reference/warnings.md
 */
export interface Logger {
  warn(event: string, fields: JsonObject): void
  info?(event: string, fields: JsonObject): void
}
