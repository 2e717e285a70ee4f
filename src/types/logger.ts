import type { JsonObject } from '../contract/json.ts'

/**
 * Receives structured log lines. Default: silence.
 *
 * **Contract**: `event` is a stable camelCase name, `fields` plain JSON without secrets. A logger that throws or rejects is ignored.
 */
export interface Logger {
  warn(event: string, fields: JsonObject): void
}
