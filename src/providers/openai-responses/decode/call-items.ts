import type { JsonObject } from '../../../contract/json.ts'
import { textOfArguments } from '../../kit/decode/parse-call.ts'
import type { ItemBlocks, ItemKindWriter } from './item-blocks.ts'
import type { OutputItem } from './output-items.ts'
import type { ResponsesEvent, WireItem } from './wire.ts'
import { callIdOf } from './wire-item.ts'

/** Decodes calls to the request's function tools. */
export class CallItems implements ItemKindWriter {
  readonly #blocks: ItemBlocks

  constructor(blocks: ItemBlocks) {
    this.#blocks = blocks
  }

  begin(open: OutputItem, item: WireItem): void {
    open.opening = item.arguments
    this.#open(open, item)
  }

  /** Starts a call in the format of older events. */
  start(event: ResponsesEvent): void {
    this.#open(this.#blocks.items.of(event, 'call'), event)
  }

  /** Adds a delta of arguments. */
  argumentsDelta(event: ResponsesEvent): void {
    this.#arguments(this.#blocks.items.of(event, 'call'), event.delta)
  }

  /** Sets the whole text of the arguments. */
  argumentsDone(event: ResponsesEvent): void {
    const open = this.#blocks.items.of(event, 'call')
    open.isDone = true
    this.#wholeArguments(open, event.arguments)
  }

  complete(open: OutputItem, item: WireItem): void {
    const blocks = this.#blocks
    blocks.look(item)
    this.#open(open, item)
    this.#wholeArguments(open, item.arguments)
    const namespace = typeof item.namespace === 'string' ? { namespace: item.namespace } : {}
    const caller = typeof item.caller === 'object' && item.caller !== null ? { caller: item.caller as JsonObject } : {} // Parsed JSON.
    blocks.keep(open.key, { ...blocks.idOf(open), ...namespace, ...caller, ...blocks.after(open) })
  }

  isAlike(open: OutputItem, item: WireItem, index: number): boolean {
    const isOther = open.callId !== '' && callIdOf(item) !== '' && open.callId !== callIdOf(item)
    return !isOther && (this.#blocks.items.isAt(open, index) || open.raw === textOfArguments(item.arguments))
  }

  /** Ends the response. An unfinished call counts as complete if its arguments are complete. A call without arguments does not run. */
  end(): void {
    for (const { kind, isDone, opening, raw, key } of this.#blocks.items.list) {
      if (kind !== 'call' || isDone || raw !== '') continue
      const came = textOfArguments(opening)
      if (came !== '' && came !== '{}') this.#blocks.builder.toolArguments(key, came)
      else this.#blocks.builder.cutCall(key)
    }
  }

  #open(open: OutputItem, { call_id, id, name }: WireItem): void {
    this.#blocks.progress++
    if (typeof call_id === 'string' && call_id !== '') open.callId = call_id
    this.#blocks.builder.toolCall(open.key, call_id || id || undefined, name ?? undefined)
  }

  #arguments(open: OutputItem, delta: unknown): void {
    const text = textOfArguments(delta)
    if (text === '') return
    this.#blocks.progress++
    open.raw += text
    this.#blocks.builder.toolArguments(open.key, text)
  }

  /** Sets a call's final arguments. They override deltas, which may be placeholders or incomplete. */
  #wholeArguments(open: OutputItem, whole: unknown): void {
    const text = textOfArguments(whole) || (open.raw === '' ? textOfArguments(open.opening) : '')
    if (text.startsWith(open.raw)) this.#arguments(open, text.slice(open.raw.length))
    else if (text !== '') {
      open.raw = text
      this.#blocks.builder.replaceArguments(open.key, text)
    }
  }
}
