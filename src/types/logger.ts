import type { JsonObject } from './json.ts'

/**
 * Receives structured log lines. Default: silence.
 *
 * **Contract**: `event` is a stable camelCase name, `fields` plain JSON without secrets. A logger that throws or rejects is ignored.
 */
export interface Logger {
  warn(event: string, fields: JsonObject): void
}

/** Logs a warning, where there is a logger. Never throws, and leaves no rejection behind: a logger has no say in what happens. */
export function logWarning(logger: Logger | undefined, event: string, fields: JsonObject): void {
  try {
    // May be async all the same.
    const outcome: unknown = logger?.warn(event, fields)
    if (outcome instanceof Promise) outcome.catch(() => undefined)
  } catch {
    // Nobody is left to tell.
  }
}
