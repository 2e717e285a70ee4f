import type { JsonValue } from '../../contract/json.ts'

/** About how many characters of JSON a value has; once that is more than `most`, any larger number. */
export function charsWithin(value: JsonValue, most: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  let chars = 2
  for (const [key, part] of Object.entries(value)) {
    chars += (Array.isArray(value) ? 1 : key.length + 4) + charsWithin(part, most - chars)
    if (chars > most) break
  }
  return chars
}
