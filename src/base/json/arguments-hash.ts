import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { sha256 } from '../sha256.ts'

/** SHA-256 of the canonical JSON of `args`, in hex: equal for equal arguments, whatever the order of keys. */
export function argumentsHash(args: JsonObject): string {
  return sha256(canonicalJson(args))
}

function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`
}
