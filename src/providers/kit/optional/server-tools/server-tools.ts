import { ConfigError } from '../../../../contract/errors.ts'
import type { JsonObject, JsonValue } from '../../../../contract/json.ts'
import { aJsonObject, listOf, type Shape } from '../../../../contract/shape/shape.ts'

/**
 * Provider-executed tools as declared by the provider. Plain JSON, so that agent files can contain them.
 *
 * **Contract**
 * - Each request contains them unchanged. The factory rejects invalid declarations with their name.
 * - Keys in them (`authorization`, `authorization_token`, `headers`) are sent only to the provider, and never appear in configurations,
 *   captures or sessions.
 *
 * Source: docs/concepts/tools.md
 */
export type ServerTools = readonly JsonObject[]

/** The `serverTools` option. */
export const aServerToolList: Shape = listOf(aJsonObject)

const secretFields: ReadonlySet<string> = new Set(['authorization', 'authorization_token', 'headers'])

/** Returns the secrets in `tools`. */
export function serverToolSecrets(tools: readonly JsonValue[]): string[] {
  return tools.flatMap((tool) => secretsUnder(tool, false))
}

function secretsUnder(value: JsonValue, isSecret: boolean): string[] {
  if (typeof value === 'string') return isSecret ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((each) => secretsUnder(each, isSecret))
  return Object.entries(value).flatMap(([name, each]) => secretsUnder(each, isSecret || secretFields.has(name)))
}

/** Returns the secrets of a call with `tools`: secrets in the tools, and the credential. Empty if the tools contain none. */
export function hiddenBy(tools: ServerTools, credential: string | undefined): { secrets?: readonly string[] } {
  const secrets = serverToolSecrets(tools)
  return secrets.length === 0 ? {} : { secrets: credential === undefined ? secrets : [...secrets, credential] }
}

/** Throws `ConfigError` `invalidOption` for `serverTools`. `what` describes the problem and the fix, without a final period. */
export function refuseServerTools(what: string): never {
  throw new ConfigError('invalidOption', `serverTools: ${what}.`)
}
