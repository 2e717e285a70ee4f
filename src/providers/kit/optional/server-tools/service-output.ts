import type { JsonValue } from '../../../../contract/json.ts'
import type { AssistantBuilder } from '../../decode/assistant-builder.ts'

/** Maximum characters of JSON to show for a provider-executed tool. */
const maxShown = 65_536

/** Prepares a provider's `value` for display: removes encrypted data and limits it to 64 KiB. Marks omissions. */
export function shownOutput(value: unknown): JsonValue | undefined {
  if (value === undefined || value === null) return undefined
  const shown = withoutEncrypted(value as JsonValue, 0) // Parsed JSON.
  if (typeof shown === 'string') return cut(shown)
  const json = JSON.stringify(shown)
  if (json.length <= maxShown) return shown
  return Array.isArray(shown) ? firstOf(shown) : cut(json)
}

function withoutEncrypted(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== 'object' || value === null || depth > 20) return value
  if (Array.isArray(value)) return value.map((each) => withoutEncrypted(each, depth + 1))
  const kept = Object.entries(value).filter(([name, each]) => !name.startsWith('encrypted_') && each !== null && each !== undefined)
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutEncrypted(each, depth + 1)]))
}

function firstOf(list: readonly JsonValue[]): JsonValue {
  const shown: JsonValue[] = []
  let chars = 0
  for (const each of list) {
    chars += JSON.stringify(each).length
    if (chars > maxShown) break
    shown.push(each)
  }
  return [...shown, `… ${list.length - shown.length} more are not shown`]
}

function cut(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown).replace(/[\uD800-\uDBFF]$/, '')}… (${text.length} characters)`
}

/** Warns that a provider used the same id for two calls, which are shown as one block. */
export function warnOfRepeat(builder: AssistantBuilder, id: string): void {
  if (builder.serviceToolOf(id) === undefined) return
  builder.warn(`The provider used the id "${id.slice(0, 60)}" for two of its tool calls. The second one replaces the first.`)
}
