import type { Citation } from '../../../contract/message/content.ts'
import type { AnswerWriter } from '../shared/answer-fold.ts'
import { urlCitation } from '../shared/url-citation.ts'
import type { ReferenceKind } from './reference.ts'
import type { ItemStatus, ResponseEventBody, ResponseItem, ResponsePart } from './response.ts'

type Message = Extract<ResponseItem, { type: 'message' }>
type Reasoning = Extract<ResponseItem, { type: 'reasoning' }>

/** The open item, with its message and block. */
interface OpenItem {
  item: Message | Reasoning
  messageId: string
  contentIndex: number
}

/** Prefixes of item ids. */
export type NamedItem = Exclude<ReferenceKind, 'resp' | 'mcpr'>

/** Returns an item's id. */
export type NameItem = (kind: NamedItem, index: number) => string

/**
 * Writes the output of one response.
 *
 * **Contract**
 * - At most one item, and one part of a message, is open at a time. Every `added` event has a matching `done` event.
 */
export class OutputWriter implements AnswerWriter {
  items: ResponseItem[] = []
  readonly #send: (event: ResponseEventBody) => void
  readonly #name: NameItem
  #open: OpenItem | undefined

  constructor(send: (event: ResponseEventBody) => void, name: NameItem) {
    this.#send = send
    this.#name = name
  }

  clear(): void {
    this.items = []
    this.#open = undefined
  }

  text(messageId: string, contentIndex: number, delta: string): void {
    const { item } = this.#open ?? {}
    const isSame = item?.type === 'message' && this.#open?.messageId === messageId
    if (!isSame) this.#begin({ type: 'message', id: this.#next('msg'), status: 'in_progress', role: 'assistant', content: [] }, messageId)
    if (!isSame || this.#open?.contentIndex !== contentIndex) this.#beginPart(contentIndex)
    const part = this.#part
    if (part?.type !== 'output_text') return
    part.text += delta
    this.#send({ type: 'response.output_text.delta', ...this.#inPart(), delta, logprobs: [] })
  }

  cite(messageId: string, contentIndex: number, citation: Citation): void {
    const part = this.#part
    const isOfIt = this.#open?.messageId === messageId && this.#open.contentIndex === contentIndex
    if (part?.type !== 'output_text' || !isOfIt) return
    const annotation = urlCitation(citation, 0, part.text.length)
    if (annotation === undefined) return
    part.annotations.push(annotation)
    const index = part.annotations.length - 1
    this.#send({ type: 'response.output_text.annotation.added', ...this.#inPart(), annotation_index: index, annotation })
  }

  reasoning(messageId: string, contentIndex: number, delta: string): void {
    const isSame = this.#open?.item.type === 'reasoning' && this.#open.messageId === messageId && this.#open.contentIndex === contentIndex
    if (!isSame) {
      this.#begin({ type: 'reasoning', id: this.#next('rs'), summary: [{ type: 'summary_text', text: '' }] }, messageId)
      if (this.#open !== undefined) this.#open.contentIndex = contentIndex
      this.#send({ type: 'response.reasoning_summary_part.added', ...this.#inSummary(), part: { type: 'summary_text', text: '' } })
    }
    const { item } = this.#open ?? {}
    const [summary] = item?.type === 'reasoning' ? item.summary : []
    if (summary === undefined) return
    summary.text += delta
    this.#send({ type: 'response.reasoning_summary_text.delta', ...this.#inSummary(), delta })
  }

  refusal(messageId: string, refusal: string): void {
    this.close()
    this.#begin({ type: 'message', id: this.#next('msg'), status: 'in_progress', role: 'assistant', content: [] }, messageId)
    const { item } = this.#open ?? {}
    if (item?.type !== 'message') return
    const part: ResponsePart = { type: 'refusal', refusal: '' }
    item.content.push(part)
    this.#send({ type: 'response.content_part.added', ...this.#inPart(), part: { ...part } })
    part.refusal = refusal
    this.#send({ type: 'response.refusal.delta', ...this.#inPart(), delta: refusal })
    this.close()
  }

  call(callId: string, name: string, args: string): void {
    this.close()
    const item = { type: 'function_call' as const, id: this.#next('fc'), call_id: callId, name }
    const place = { item_id: item.id, output_index: this.items.length }
    this.#send({
      type: 'response.output_item.added',
      output_index: place.output_index,
      item: { ...item, arguments: '', status: 'in_progress' },
    })
    this.#send({ type: 'response.function_call_arguments.delta', ...place, delta: args })
    this.#send({ type: 'response.function_call_arguments.done', ...place, arguments: args, name })
    this.#done({ ...item, arguments: args, status: 'completed' })
  }

  picture(data: string): void {
    this.close()
    this.whole({ type: 'image_generation_call', id: this.#next('ig'), status: 'completed', result: data })
  }

  /** Writes a complete item. */
  whole(item: ResponseItem): void {
    this.close()
    this.#send({ type: 'response.output_item.added', output_index: this.items.length, item })
    this.#done(item)
  }

  /** Closes the open item, if any. */
  close(status: ItemStatus = 'completed'): void {
    if (this.#open === undefined) return
    const { item } = this.#open
    if (item.type === 'message') {
      this.#endPart()
      item.status = status
    } else {
      const part = item.summary[0] ?? { type: 'summary_text' as const, text: '' }
      this.#send({ type: 'response.reasoning_summary_text.done', ...this.#inSummary(), text: part.text })
      this.#send({ type: 'response.reasoning_summary_part.done', ...this.#inSummary(), part })
    }
    this.#open = undefined
    this.#done(item)
  }

  #begin(item: Message | Reasoning, messageId: string): void {
    this.close()
    this.#open = { item, messageId, contentIndex: -1 }
    this.#send({ type: 'response.output_item.added', output_index: this.items.length, item: emptyOf(item) })
  }

  #beginPart(contentIndex: number): void {
    this.#endPart()
    if (this.#open?.item.type !== 'message') return
    this.#open.contentIndex = contentIndex
    const part: ResponsePart = { type: 'output_text', text: '', annotations: [], logprobs: [] }
    this.#open.item.content.push(part)
    this.#send({ type: 'response.content_part.added', ...this.#inPart(), part: { ...part, annotations: [] } })
  }

  #endPart(): void {
    const part = this.#part
    if (part === undefined) return
    if (part.type === 'output_text') this.#send({ type: 'response.output_text.done', ...this.#inPart(), text: part.text, logprobs: [] })
    else this.#send({ type: 'response.refusal.done', ...this.#inPart(), refusal: part.refusal })
    this.#send({ type: 'response.content_part.done', ...this.#inPart(), part })
  }

  get #part(): ResponsePart | undefined {
    return this.#open?.item.type === 'message' ? this.#open.item.content.at(-1) : undefined
  }

  #done(item: ResponseItem): void {
    this.#send({ type: 'response.output_item.done', output_index: this.items.length, item })
    this.items.push(item)
  }

  #next(kind: NamedItem): string {
    // Count the open item, so that ids stay unique.
    return this.#name(kind, this.items.length + (this.#open === undefined ? 0 : 1))
  }

  #inPart(): { item_id: string; output_index: number; content_index: number } {
    const { item } = this.#open ?? {}
    const parts = item?.type === 'message' ? item.content.length : 1
    return { item_id: item?.id ?? '', output_index: this.items.length, content_index: Math.max(0, parts - 1) }
  }

  #inSummary(): { item_id: string; output_index: number; summary_index: number } {
    return { item_id: this.#open?.item.id ?? '', output_index: this.items.length, summary_index: 0 }
  }
}

function emptyOf(item: Message | Reasoning): ResponseItem {
  return item.type === 'message' ? { ...item, content: [] } : { ...item, summary: [] }
}
