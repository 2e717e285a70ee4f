import { ConfigError } from '../../../../contract/errors.ts'
import type { JsonObject, JsonValue } from '../../../../contract/json.ts'
import { aJsonObject, listOf, type Shape } from '../../../../contract/shape/shape.ts'

/**
 * Provider-executed tools, in the provider's own declaration: plain JSON, so that an agent file can name them.
 *
 * **Contract**
 * - They go into each request unchanged. The factory rejects invalid ones by name.
 * - Keys inside (`authorization`, `authorization_token`, `headers`) go only to the provider: no configuration, capture or session has them.
 *
 * Source: docs/concepts/tools.md
 */
export type ServerTools = readonly JsonObject[]

/** The option `serverTools`. */
export const aServerToolList: Shape = listOf(aJsonObject)

const secretFields: ReadonlySet<string> = new Set(['authorization', 'authorization_token', 'headers'])

/** Returns the secret texts inside `tools`. */
export function serverToolSecrets(tools: readonly JsonValue[]): string[] {
  return tools.flatMap((tool) => secretsUnder(tool, false))
}

function secretsUnder(value: JsonValue, isSecret: boolean): string[] {
  if (typeof value === 'string') return isSecret ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((each) => secretsUnder(each, isSecret))
  return Object.entries(value).flatMap(([name, each]) => secretsUnder(each, isSecret || secretFields.has(name)))
}

/** Returns the secrets of a call with `tools`: theirs, and the credential. Nothing to add without any. */
export function hiddenBy(tools: ServerTools, credential: string | undefined): { secrets?: readonly string[] } {
  const secrets = serverToolSecrets(tools)
  return secrets.length === 0 ? {} : { secrets: credential === undefined ? secrets : [...secrets, credential] }
}

/** Throws `ConfigError` `invalidOption` for the option `serverTools`: `what` is wrong with it, and what to do, in words without a stop. */
export function refuseServerTools(what: string): never {
  throw new ConfigError('invalidOption', `serverTools: ${what}.`)
}
