import type { JsonObject, JsonValue } from '../contract/json.ts'
import { isSecretName } from '../contract/shape/json-fault.ts'
import type { Logger } from '../types/logger.ts'
import { catchLate } from './abort.ts'

import { shortened } from './text/characters.ts'
import { withoutSecret } from './text/redact.ts'
import { withoutUrlSecrets } from './text/secrets.ts'

/**
 * Passes a warning to the logger, or to the console where there is none; `false` is silence. Never throws, and leaves no rejection behind: a logger
 * has no say in what happens.
 *
 * Every text in `fields` is without `secrets` and without what reads like one: nobody knows what others put into their errors.
 */
export function logWarning(logger: Logger | false | undefined, event: string, fields: JsonObject, secrets: readonly string[] = []): void {
  if (logger === false) return
  quietly(() => {
    const shown = shownFields(fields, secrets)
    return logger === undefined ? warnConsole(event, shown) : logger.warn(event, shown)
  })
}

/** Passes what is no fault to `info` of the logger, as {@link logWarning} does with a warning. Without `info` it is dropped; the console never gets it. */
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
    // May be async all the same.
    catchLate(act(), () => undefined)
  } catch {
    // Nobody is left to tell.
  }
}

/** Longer texts, such as a page that a tool took for its error, are cut. */
const maxChars = 8000

function shownValue(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') {
    return withoutLikelySecrets(withoutSecret(shortened(value, maxChars), secrets))
  }
  if (Array.isArray(value)) return value.map((each) => shownValue(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shownValue(each, secrets)]))
}

/** What reads like a secret, and what stands there instead. Repetitions are bounded, or end at characters that they exclude: time stays linear. */
const addresses = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>`]+/gi
const likely = [
  /\b((?:bearer|basic)\s{1,4})[\w.~+/=-]{6,}/gi,
  /((?:(?:api|access)[-_ ]?key|secret|token|passw(?:or)?d|authorization|cookie)["']?\s{0,4}[:=]\s{0,4}["']?)(?!bearer\s|basic\s|\[redacted)[^\s"',;&<>]{6,}/gi,
  /\b()(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|github_pat|xox[abp]|AKIA|ASIA|AIza|ya29)[-_.]?[\w-]{16,}/g,
]

/** Longer than most words, of letters and digits: it may be a key. */
const longWords = /[\w+/=.-]{20,}/g

/** Whether there may be a secret in `value`: by the names in it, or by how a text reads. A doubt is a yes. */
export function mayHoldSecret(value: JsonValue): boolean {
  if (typeof value === 'string')
    return (value.match(longWords) ?? []).some((word) => /\d/.test(word) && /[a-z]/i.test(word)) || withoutLikelySecrets(value) !== value
  if (Array.isArray(value)) return value.some(mayHoldSecret)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([name, each]) => isSecretName(name) || mayHoldSecret(name) || (each !== undefined && mayHoldSecret(each)),
  )
}

/** `text` without parameters and passwords of addresses, tokens, values after the name of a secret, and keys that show by their prefix. */
export function withoutLikelySecrets(text: string): string {
  const shown = text.replace(addresses, withoutUrlSecrets)
  return likely.reduce((last, pattern) => last.replace(pattern, '$1[redacted]'), shown)
}

/** What the console has been told. A loop that meets the same thing in each turn says it once. */
const told = new Set<string>()
const maxTold = 500

/** Ids are for whoever keeps logs: in a console they would make each line another one. */
function warnConsole(
  event: string,
  { runId: _run, loopId: _loop, sessionId: _session, agentId: _agent, toolCallId: _call, message, hint, ...details }: JsonObject,
): void {
  const sentences = [message, hint].filter((each) => typeof each === 'string')
  const rest = Object.keys(details).length > 0 ? [JSON.stringify(details)] : []
  const line = [`phi-core: ${event}.`, ...sentences, ...rest].join(' ')
  if (told.has(line)) return
  if (told.size >= maxTold) told.clear()
  told.add(line)
  console.warn(line)
}
