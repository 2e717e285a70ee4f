import { type JsonObject, ownOf } from '../../../contract/json.ts'
import { indexIn, nameIn } from '../../kit/decode/wire-value.ts'
import type { CodePoints } from '../../kit/optional/citations/code-points.ts'
import type { ResponsesEvent } from './wire.ts'

/** Kind of an output item. `other` is provider-executed or unknown. */
export type ItemKind = 'message' | 'reasoning' | 'call' | 'other'

/** An output item in progress. */
export interface OutputItem {
  kind: ItemKind
  /** The API's type of the item. Empty while unknown. */
  type: string
  /** Position among the response's items. */
  position: number
  /** Key of the item's first block. Further parts use the following keys. */
  key: number
  /** Keys of the item's existing blocks, in start order. */
  readonly keys: number[]
  id: string
  /** Call id that results refer to. Empty while unknown. */
  callId: string
  /** Arguments of a call so far. */
  raw: string
  /** A call's initial arguments, used if no delta follows. */
  opening: unknown
  /** Whether a delta created the item, because the start event is missing or still expected. */
  isImplied: boolean
  /** Whether the item has ended. */
  isDone: boolean
  /** Whether a reasoning item can be sent back. */
  isReplayable: boolean
  /** A message's refusal text. */
  refusal: string
  /** Citations of the item's texts, by key. */
  annotations?: Map<number, Annotations>
}

/** Citations of one text. */
export interface Annotations {
  list: JsonObject[]
  /** Number of citations emitted so far. */
  shown: number
  /** Number of code points of the text so far. */
  readonly points: CodePoints
}

const kinds: { readonly [type: string]: ItemKind } = { message: 'message', reasoning: 'reasoning', function_call: 'call' }

/** Keys reserved for the parts of one item. */
const keysPerItem = 1024

/** Returns the kind of an item type. */
export function kindOf(type: string | undefined): ItemKind {
  return (type === undefined ? undefined : ownOf(kinds, type)) ?? 'other'
}

/**
 * Finds a response's items by id, then by `output_index`. If neither matches, uses the last item. Some providers omit or repeat the index,
 * or change the id with every event.
 */
export class OutputItems {
  readonly list: OutputItem[] = []
  readonly #byIndex = new Map<number, OutputItem>()
  readonly #byId = new Map<string, OutputItem>()
  #lastIndex: number | undefined
  #lastId: string | undefined
  #last: OutputItem | undefined

  /** Opens an event's item. */
  open(kind: ItemKind, index: number | undefined, id: string | null | undefined): OutputItem {
    const position = this.list.length
    const item: OutputItem = {
      kind,
      type: '',
      position,
      key: position * keysPerItem,
      keys: [],
      id: id ?? '',
      callId: '',
      raw: '',
      opening: undefined,
      isImplied: false,
      isDone: false,
      isReplayable: false,
      refusal: '',
    }
    this.list.push(item)
    if (index !== undefined) this.#byIndex.set(index, item)
    if (typeof id === 'string') this.#byId.set(id, item)
    this.#remember(item, index, id ?? undefined)
    return item
  }

  /** Returns the item of a delta. Creates the item as `kind` if its start event is missing. */
  of(event: ResponsesEvent, kind: ItemKind): OutputItem {
    const index = indexIn(event.output_index)
    const id = nameIn(event.item_id, 'the id of an item')
    if (this.#last?.kind === kind && index === this.#lastIndex && id === this.#lastId) return this.#last
    const found = this.find(kind, index, id) ?? (index === undefined && this.#isGoingOn(kind) ? this.#last : undefined)
    const item = found ?? this.open(kind, index, id)
    if (found === undefined) item.isImplied = true
    this.#remember(item, index, id)
    return item
  }

  /** Returns the item of this kind with this id, otherwise with this index. */
  find(kind: ItemKind, index: number | undefined, id: string | null | undefined): OutputItem | undefined {
    const item = (typeof id === 'string' ? this.#byId.get(id) : undefined) ?? (index === undefined ? undefined : this.#byIndex.get(index))
    return item !== undefined && (item.kind === kind || item.kind === 'other') ? item : undefined
  }

  /** Returns whether `item` has this index. Items without an index are numbered in order. */
  isAt(item: OutputItem, index: number): boolean {
    const there = this.#byIndex.get(index)
    return there === undefined ? this.#byIndex.size === 0 && item.position === index : there === item
  }

  /**
   * Returns the call with `callId`, otherwise an unfinished item of this kind that was created by a delta. A finished call with other
   * arguments is a different call, because some providers reuse ids.
   */
  findUnnamed(kind: ItemKind, callId: string, text: string): OutputItem | undefined {
    const isIt = (item: OutputItem) => item.kind === kind && item.callId === callId && (!item.isDone || text === '' || item.raw === text)
    const call = callId === '' ? undefined : this.list.find(isIt)
    return call ?? this.list.find((item) => item.kind === kind && item.isImplied && !item.isDone)
  }

  #isGoingOn(kind: ItemKind): boolean {
    return this.#last?.kind === kind && !this.#last.isDone
  }

  #remember(item: OutputItem, index: number | undefined, id: string | undefined): void {
    this.#lastIndex = index
    this.#lastId = id
    this.#last = item
  }
}
