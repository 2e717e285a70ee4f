import type { JsonObject } from '../contract/json.ts'

/**
 * Receives warnings: something was dropped, cut or repeated, or a run failed and nobody looked. With `info` also what is no fault: requests, runs and what an
 * operator does, where an app serves them.
 *
 * **Contract**
 * - `event` is a stable camelCase name. `fields` are plain JSON without secrets; `message` and `hint` are sentences where they are there.
 * - A logger that throws or rejects is ignored.
 * - Wherever a `logger` may be given: without one, each warning is written to the console once. `false` silences.
 *
 * Source: docs/reference/warnings.md
 */
export interface Logger {
  warn(event: string, fields: JsonObject): void
  info?(event: string, fields: JsonObject): void
}
