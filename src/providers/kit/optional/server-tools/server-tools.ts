import { ConfigError } from '../../../../contract/errors.ts'
import type { JsonObject, JsonValue } from '../../../../contract/json.ts'
import { aJsonObject, listOf, type Shape } from '../../../../contract/shape/shape.ts'

/**
 * Provider-executed tools, in the provider's own declaration: plain JSON, so that an agent file can name them.
 *
 * **Contract**
 * - They go into each request as they are. The factory refuses by name what its service would.
 * - Keys inside (`authorization`, `authorization_token`, `headers`) go to the service and nowhere else: they are in no configuration, capture or session.
 *
 * Source: docs/concepts/tools.md
 */
export type ServerTools = readonly JsonObject[]

/** The option `serverTools`. */
export const aServerToolList: Shape = listOf(aJsonObject)

const secretFields: ReadonlySet<string> = new Set(['authorization', 'authorization_token', 'headers'])

/** The texts inside of `tools` that nobody but the service may see. */
export function serverToolSecrets(tools: readonly JsonValue[]): string[] {
  return tools.flatMap((tool) => secretsUnder(tool, false))
}

function secretsUnder(value: JsonValue, isSecret: boolean): string[] {
  if (typeof value === 'string') return isSecret ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((each) => secretsUnder(each, isSecret))
  return Object.entries(value).flatMap(([name, each]) => secretsUnder(each, isSecret || secretFields.has(name)))
}

/** What a call with `tools` keeps out of messages: their secrets, and the credential. Nothing to add where they have none. */
export function hiddenBy(tools: ServerTools, credential: string | undefined): { secrets?: readonly string[] } {
  const secrets = serverToolSecrets(tools)
  return secrets.length === 0 ? {} : { secrets: credential === undefined ? secrets : [...secrets, credential] }
}

/** Throws `ConfigError` `invalidOption` for the option `serverTools`: `what` is wrong with it, and what to do, in words without a stop. */
export function refuseServerTools(what: string): never {
  throw new ConfigError('invalidOption', `serverTools: ${what}.`)
}
