import type { JsonObject } from '../contract/json.ts'
import type { Logger } from '../types/logger.ts'

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
