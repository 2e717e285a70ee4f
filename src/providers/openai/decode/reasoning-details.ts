import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts'

/** The fields of an entry that arrive in fragments. */
const growing = ['text', 'summary', 'data'] as const

/**
 * Collects OpenRouter's `reasoning_details`: fragments of one entry share type, index and id. The merged entries are what OpenRouter wants
 * back, unmodified, in the order in which they began.
 *
 * Source: docs/providers/openai.md
 */
export class ReasoningDetails {
  /** The entries as they are sent back; this list grows and its entries with it. */
  readonly entries: JsonObject[] = []
  readonly #byKey = new Map<string, JsonObject>()
  #unindexed = 0

  /** Merges one chunk's list; returns the text it adds that is to be shown. */
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
    // The state of another call: its id says of which.
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
