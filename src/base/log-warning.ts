import type { JsonObject, JsonValue } from '../contract/json.ts'
import { isSecretName } from '../contract/shape/json-fault.ts'
import type { Logger } from '../types/logger.ts'
import { catchLate } from './abort.ts'

import { shortened } from './text/characters.ts'
import { withoutSecret } from './text/redact.ts'
import { withoutUrlSecrets } from './text/secrets.ts'

/**
 * Passes a warning to the logger, or to the console without one. `false` disables it. Never throws and never leaves an unhandled rejection,
 * because a logger must not affect a run.
 *
 * Removes `secrets`, and text that looks like a secret, from `fields`, because third-party errors may contain secrets.
 */
export function logWarning(logger: Logger | false | undefined, event: string, fields: JsonObject, secrets: readonly string[] = []): void {
  if (logger === false) return
  quietly(() => {
    const shown = shownFields(fields, secrets)
    return logger === undefined ? warnConsole(event, shown) : logger.warn(event, shown)
  })
}

/** Passes information to the logger's `info`, like {@link logWarning}. Does nothing if the logger has no `info`. */
export function logInfo(logger: Logger | false | undefined, event: string, fields: JsonObject): void {
  if (logger) quietly(() => logger.info?.(event, shownFields(fields, [])))
}

function shownFields(fields: JsonObject, secrets: readonly string[]): JsonObject {
  const shown: JsonObject = {}
  for (const [name, value] of Object.entries(fields)) shown[name] = shownValue(value, secrets)
  return shown
}

function quietly(act: () => unknown): void {
  try {
    // The method may be async despite its type.
    catchLate(act(), () => undefined)
  } catch {
    // Ignore logger failures, which have no recipient.
  }
}

/** Maximum characters of a text. Truncates long texts, such as an HTML error page. */
const maxChars = 8000

function shownValue(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') {
    return withoutLikelySecrets(withoutSecret(shortened(value, maxChars), secrets))
  }
  if (Array.isArray(value)) return value.map((each) => shownValue(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shownValue(each, secrets)]))
}

/** Patterns of secrets and their replacements. For linear time, repetitions are bounded or end at excluded characters. */
const addresses = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>`]+/gi
const likely = [
  /\b((?:bearer|basic)\s{1,4})[\w.~+/=-]{6,}/gi,
  /((?:(?:api|access)[-_ ]?key|secret|token|passw(?:or)?d|authorization|cookie)["']?\s{0,4}[:=]\s{0,4}["']?)(?!bearer\s|basic\s|\[redacted)[^\s"',;&<>]{6,}/gi,
  /\b()(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|github_pat|xox[abp]|AKIA|ASIA|AIza|ya29)[-_.]?[\w-]{16,}/g,
]

/** Matches runs of letters and digits that are longer than most words and may be a key. */
const longWords = /[\w+/=.-]{20,}/g

/** Returns whether `value` may contain a secret, by name or content. Returns true in case of doubt. */
export function mayHoldSecret(value: JsonValue): boolean {
  if (typeof value === 'string')
    return (value.match(longWords) ?? []).some((word) => /\d/.test(word) && /[a-z]/i.test(word)) || withoutLikelySecrets(value) !== value
  if (Array.isArray(value)) return value.some(mayHoldSecret)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([name, each]) => isSecretName(name) || mayHoldSecret(name) || (each !== undefined && mayHoldSecret(each)),
  )
}

/** Removes URL parameters and passwords, tokens, values after names of secrets, and keys with known prefixes from `text`. */
export function withoutLikelySecrets(text: string): string {
  const shown = text.replace(addresses, withoutUrlSecrets)
  return likely.reduce((last, pattern) => last.replace(pattern, '$1[redacted]'), shown)
}

/** Messages already written to the console, so that a repeated message appears only once. */
const logged = new Set<string>()
const maxLogged = 500

/** Writes a warning to the console. Omits ids, which make each line unique and are useful only in stored logs. */
function warnConsole(
  event: string,
  { runId: _run, loopId: _loop, sessionId: _session, agentId: _agent, toolCallId: _call, message, hint, ...details }: JsonObject,
): void {
  const sentences = [message, hint].filter((each) => typeof each === 'string')
  const rest = Object.keys(details).length > 0 ? [JSON.stringify(details)] : []
  const line = [`phi-core: ${event}.`, ...sentences, ...rest].join(' ')
  if (logged.has(line)) return
  if (logged.size >= maxLogged) logged.clear()
  logged.add(line)
  console.warn(line)
}
