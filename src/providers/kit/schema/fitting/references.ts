import { nameOfPart } from '../../../../base/json/json-pointer.ts'
import { percentDecoded } from '../../../../base/text/percent.ts'
import { isObject, type JsonSchema, ownFieldIn } from '../../../../contract/json.ts'

/** The schema that a `$ref` within `whole` names; `undefined` where it names none. */
export function referenceIn(whole: JsonSchema, ref: string): JsonSchema | undefined {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined
  let found: unknown = whole
  for (const part of ref.split('/').slice(1)) {
    const name = nameOfPart(percentDecoded(part))
    found = Array.isArray(found) ? found[Number(name)] : ownFieldIn(found, name)
  }
  return isObject(found) ? found : undefined
}
