import type { JsonObject } from '../contract/json.ts'
import type { Logger } from '../types/logger.ts'

/**
 * Passes a warning to the logger, or to the console where there is none; `false` is silence. Never throws, and leaves no rejection behind: a logger
 * has no say in what happens.
 */
export function logWarning(logger: Logger | false | undefined, event: string, fields: JsonObject): void {
  if (logger === false) return
  try {
    if (logger === undefined) warnConsole(event, fields)
    else {
      // May be async all the same.
      const outcome: unknown = logger.warn(event, fields)
      if (outcome instanceof Promise) outcome.catch(() => undefined)
    }
  } catch {
    // Nobody is left to tell.
  }
}

/** What the console has been told. A loop that meets the same thing in each turn says it once. */
const told = new Set<string>()
const maxTold = 500

/** Ids are for whoever keeps logs: in a console they would make each line another one. */
function warnConsole(
  event: string,
  { runId: _run, loopId: _loop, sessionId: _session, toolCallId: _call, message, hint, ...details }: JsonObject,
): void {
  const sentences = [message, hint].filter((each) => typeof each === 'string')
  const rest = Object.keys(details).length > 0 ? [JSON.stringify(details)] : []
  const line = [`phi-core: ${event}.`, ...sentences, ...rest].join(' ')
  if (told.has(line)) return
  if (told.size >= maxTold) told.clear()
  told.add(line)
  console.warn(line)
}
