import type { ResponsesEvent } from './wire.ts'

/** What an output item becomes; `other` is what the service did by itself. */
export type ItemKind = 'message' | 'reasoning' | 'call' | 'other'

/** One output item as far as it came. */
export interface OutputItem {
  kind: ItemKind
  /** Position among the items of the response. */
  position: number
  /** Key of its first block; the blocks of further parts count up from it. */
  key: number
  /** Keys of the blocks that exist, in the order in which they began. */
  readonly keys: number[]
  id: string
  /** Argument text so far, of a call. */
  raw: string
  isDone: boolean
  /** The item says enough to be sent back, of reasoning. */
  isReplayable: boolean
}

const kinds: { readonly [type: string]: ItemKind } = { message: 'message', reasoning: 'reasoning', function_call: 'call' }

/** Room for the parts of one item among the keys. */
const keysPerItem = 1024

/** The kind of an item of this wire type. */
export function kindOf(type: string | undefined): ItemKind {
  return type !== undefined && Object.hasOwn(kinds, type) ? (kinds[type] ?? 'other') : 'other'
}

/**
 * The items of one response, found again by `output_index`, else by id, else as the last one: some services leave out the index, some
 * give an item a new id in every event.
 */
export class OutputItems {
  readonly list: OutputItem[] = []
  readonly #byIndex = new Map<number, OutputItem>()
  readonly #byId = new Map<string, OutputItem>()
  #lastIndex: number | undefined
  #last: OutputItem | undefined

  /** Opens the item of an event. */
  open(kind: ItemKind, index: number | undefined, id: string | undefined): OutputItem {
    const position = this.list.length
    const key = position * keysPerItem
    const item: OutputItem = { kind, position, key, keys: [], id: id ?? '', raw: '', isDone: false, isReplayable: false }
    this.list.push(item)
    if (index !== undefined) this.#byIndex.set(index, item)
    if (id !== undefined) this.#byId.set(id, item)
    this.#lastIndex = index
    this.#last = item
    return item
  }

  /** The item that a delta belongs to; one whose opening was left out is opened as `kind`. */
  of(event: ResponsesEvent, kind: ItemKind): OutputItem {
    const index = event.output_index
    if (this.#last !== undefined && index !== undefined && index === this.#lastIndex) return this.#last
    const last = index === undefined && event.item_id === undefined && this.#last?.kind === kind ? this.#last : undefined
    const item = this.find(index, event.item_id) ?? last ?? this.open(kind, index, event.item_id)
    this.#lastIndex = index
    this.#last = item
    return item
  }

  /** The item with this index, else with this id. */
  find(index: number | undefined, id: string | undefined): OutputItem | undefined {
    return (index === undefined ? undefined : this.#byIndex.get(index)) ?? (id === undefined ? undefined : this.#byId.get(id))
  }
}
