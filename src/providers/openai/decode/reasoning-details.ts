import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts'

/** Fields of an entry that arrive in fragments. */
const growing = ['text', 'summary', 'data'] as const

/**
 * Collects OpenRouter's `reasoning_details`, in which fragments of an entry share type, index and id. The merged entries must be sent back
 * unmodified, in start order.
 *
 * Source: docs/providers/openai.md
 */
export class ReasoningDetails {
  /** Entries to send back. The list and its entries grow. */
  readonly entries: JsonObject[] = []
  readonly #byKey = new Map<string, JsonObject>()
  #unindexed = 0

  /** Merges the list of a chunk, and returns the visible text that it adds. */
  add(list: readonly unknown[]): string {
    let shown = ''
    for (const fragment of list) {
      if (!isJsonObject(fragment)) continue
      shown += stringOf(fragment.text) || stringOf(fragment.summary) || stringOf(fragment.thinking)
      this.#merge(fragment)
    }
    return shown
  }

  #merge(fragment: JsonObject): void {
    const key = `${stringOf(fragment.type)}/${typeof fragment.index === 'number' ? fragment.index : `?${this.#unindexed++}`}`
    const entry = this.#byKey.get(key)
    // Another id means that the fragment is the state of a different call.
    if (entry === undefined || (stringOf(fragment.id) !== '' && stringOf(entry.id) !== '' && fragment.id !== entry.id)) {
      const first = { ...fragment }
      this.#byKey.set(key, first)
      this.entries.push(first)
      return
    }
    const before = growing.map((field) => stringOf(entry[field]))
    for (const [field, value] of Object.entries(fragment)) if (value !== null && value !== '') entry[field] = value
    growing.forEach((field, index) => {
      const added = stringOf(fragment[field])
      if (before[index] !== '' || added !== '') entry[field] = before[index] + added
    })
  }
}

function stringOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
