import { type JsonObject, ownOf } from '../../../contract/json.ts'
import { indexIn, nameIn } from '../../kit/decode/wire-value.ts'
import type { CodePoints } from '../../kit/optional/citations/code-points.ts'
import type { ResponsesEvent } from './wire.ts'

/** What an output item becomes; `other` is what the service did by itself. */
export type ItemKind = 'message' | 'reasoning' | 'call' | 'other'

/** One output item as far as it came. */
export interface OutputItem {
  kind: ItemKind
  /** As the service calls it; empty while unknown. */
  type: string
  /** Position among the items of the response. */
  position: number
  /** Key of its first block; the blocks of further parts count up from it. */
  key: number
  /** Keys of the blocks that exist, in the order in which they began. */
  readonly keys: number[]
  id: string
  /** What the result of a call names; empty while unknown. */
  callId: string
  /** Argument text so far, of a call. */
  raw: string
  /** Arguments that came with the opening of a call: they count where nothing follows. */
  opening: unknown
  /** A delta opened it: its own opening, under whatever name, was left out or is still to come. */
  isImplied: boolean
  /** Its end was seen. */
  isDone: boolean
  /** The item says enough to be sent back, of reasoning. */
  isReplayable: boolean
  /** What the model said in place of an answer, of a message. */
  refusal: string
  /** What its texts rest on, by their keys. */
  annotations?: Map<number, Annotations>
}

/** What one text rests on. */
export interface Annotations {
  list: JsonObject[]
  /** How many of them were shown. */
  shown: number
  /** Of the text, as far as it came. */
  readonly points: CodePoints
}

const kinds: { readonly [type: string]: ItemKind } = { message: 'message', reasoning: 'reasoning', function_call: 'call' }

/** Room for the parts of one item among the keys. */
const keysPerItem = 1024

/** The kind of an item of this wire type. */
export function kindOf(type: string | undefined): ItemKind {
  return (type === undefined ? undefined : ownOf(kinds, type)) ?? 'other'
}

/**
 * The items of one response, found again by id, else by `output_index`, else as the last one: some services leave out the index or use one
 * twice, some give an item a new id in every event.
 */
export class OutputItems {
  readonly list: OutputItem[] = []
  readonly #byIndex = new Map<number, OutputItem>()
  readonly #byId = new Map<string, OutputItem>()
  #lastIndex: number | undefined
  #lastId: string | undefined
  #last: OutputItem | undefined

  /** Opens the item of an event. */
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

  /** The item that a delta belongs to; one whose opening was left out is opened as `kind`. */
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

  /** The item of this kind with this id, else with this index. */
  find(kind: ItemKind, index: number | undefined, id: string | null | undefined): OutputItem | undefined {
    const item = (typeof id === 'string' ? this.#byId.get(id) : undefined) ?? (index === undefined ? undefined : this.#byIndex.get(index))
    return item !== undefined && (item.kind === kind || item.kind === 'other') ? item : undefined
  }

  /** Whether an event gave `item` this index; those without one are counted. */
  isAt(item: OutputItem, index: number): boolean {
    const there = this.#byIndex.get(index)
    return there === undefined ? this.#byIndex.size === 0 && item.position === index : there === item
  }

  /**
   * A call that is known by `callId`, else an item of this kind that was opened by its deltas alone and has not ended. A call that has ended is another one
   * where it had other arguments: services have given one id to two.
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
