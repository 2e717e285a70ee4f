import { ProviderError } from '../../../contract/errors.ts'
import { isJsonObject, type JsonObject, jsonObjectIn, ownOf, setOwnField } from '../../../contract/json.ts'
import { cannotBeSet, guardedFields } from '../../../contract/model/request-settings.ts'

/**
 * `body`, a JSON object, with `extra` over it: objects are merged, all else is replaced. Throws `ProviderError` `unsupported` where that would replace what
 * guards the request: a field of all protocols, or one of `own`, in whichever spelling a service takes.
 */
export function withExtraFields(body: string, extra: JsonObject, own: readonly string[] = []): string {
  const parsed: JsonObject = JSON.parse(body)
  return JSON.stringify(merged(parsed, extra, [...guardedFields, ...own].map(folded), ''))
}

/** `place` ends with a dot, where it is not empty. */
function merged(under: JsonObject, over: JsonObject, guards: readonly string[], place: string): JsonObject {
  const result: JsonObject = { ...under }
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue
    const field = folded(place + key)
    // A value in place of what holds a guarded field replaces that too.
    const isGuarded = guards.some((guard) => guard === field || (!isJsonObject(value) && guard.startsWith(`${field}.`)))
    if (isGuarded) throw new ProviderError('unsupported', cannotBeSet(`body.${place}${key}`))
    const known = ownOf(result, key)
    const both = isJsonObject(value) ? merged(jsonObjectIn(known), value, guards, `${place}${key}.`) : value
    setOwnField(result, key, both)
  }
  return result
}

/** Services take names in camelCase and with underscores. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}
