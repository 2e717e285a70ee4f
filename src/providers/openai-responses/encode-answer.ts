import type { JsonObject } from '../../contract/json.ts'
import { serviceToolText } from '../../contract/message/block-words.ts'
import type { Content, TextContent, ToolCallContent } from '../../contract/message/content.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import { toJson } from '../kit/encode/json-pieces.ts'
import { legalName } from '../kit/history/hash.ts'
import { type ReplayPayload, reasoningId, replayPayload } from './replay-state.ts'

/** An encoded response. */
export interface EncodedAnswer {
  json: string
  /** Ids of the items, which must be unique within a request. */
  ids: readonly string[]
  hasReasoning: boolean
  /** Whether the response contains output of a container, which may have expired. */
  hasContainers: boolean
}

/** Requirements for the results of a response's calls. */
export interface ExpectedResults {
  /** Callers as JSON, by call. Absent for calls by the model itself. */
  callers: ReadonlyMap<string, string>
  /** Approval requests. */
  approvals: ReadonlySet<string>
}

const legalItemName = /^[a-zA-Z0-9_-]+$/

/** Encodes a response, with reasoning and ids if they are consistent. */
export function wholeAnswer({ content }: Pick<AssistantMessage, 'content'>): EncodedAnswer {
  return isIntact(content) ? new OwnItems().write(content) : bareAnswer({ content })
}

/** Encodes a response without container output and without the reasoning before that output. */
export function answerWithoutContainers({ content }: Pick<AssistantMessage, 'content'>): EncodedAnswer {
  const led = new Set<string>()
  const omitted = new Set<string>()
  for (const block of content) {
    const { items, after } = replayPayload(block.providerState)
    if (!items?.some(usesContainer)) continue
    if (after !== undefined) led.add(after)
    if (block.type === 'serviceTool') omitted.add(block.id)
  }
  const kept = content.filter((block) => {
    const { item, items, shownBy = '' } = replayPayload(block.providerState)
    return !items?.some(usesContainer) && !omitted.has(shownBy) && !(item !== undefined && led.has(reasoningId(item)))
  })
  return kept.length === content.length ? wholeAnswer({ content }) : new OwnItems().write(kept)
}

/**
 * Encodes a response without reasoning and ids. Text precedes the calls, because gateways to other protocols require results right after
 * calls.
 */
export function bareAnswer({ content }: Pick<AssistantMessage, 'content'>): EncodedAnswer {
  const items: string[] = []
  for (const block of content) {
    if (block.type === 'text') items.push(...bareText(block.text))
    else if (block.type === 'serviceTool') items.push(...bareServiceTool(block))
  }
  for (const block of content) if (block.type === 'toolCall') items.push(callJson(block, replayPayload(block.providerState)))
  return { json: items.join(','), ids: [], hasReasoning: false, hasContainers: false }
}

/** Returns the requirements for results of `content`. */
export function expectedResults({ content }: AssistantMessage): ExpectedResults {
  const callers = new Map<string, string>()
  const approvals = new Set<string>()
  for (const block of content) {
    if (block.type === 'serviceTool' && block.needsApproval === true) approvals.add(block.id)
    const { caller } = block.type === 'toolCall' ? replayPayload(block.providerState) : {}
    if (block.type === 'toolCall' && caller !== undefined) callers.set(block.id, toJson(caller))
  }
  return { callers, approvals }
}

/** Returns whether each reasoning item is still directly followed by its original next item. */
function isIntact(content: readonly Content[]): boolean {
  let expected: string | undefined
  for (const block of content) {
    const payload = replayPayload(block.providerState)
    if (isShownElsewhere(block, payload)) continue
    const { item, id, after } = payload
    if (after !== expected) return false
    // Blank text is sent only if it has an id.
    if (after !== undefined && block.type === 'text' && block.text.trim() === '' && legalItemId(id, 'msg') === undefined) return false
    expected = block.type === 'thinking' && item !== undefined ? reasoningId(item) : undefined
  }
  return expected === undefined
}

/** Returns whether a block is part of another block's item. */
function isShownElsewhere({ type }: Content, { shownBy, items, part }: ReplayPayload): boolean {
  if (shownBy !== undefined) return true
  return type !== 'text' && type !== 'thinking' && type !== 'toolCall' && items === undefined && part === undefined
}

/** Encodes the items of one response, with text and unknown parts within their messages. */
class OwnItems {
  readonly #items: string[] = []
  readonly #ids: string[] = []
  #message: JsonObject | undefined
  #parts: JsonObject[] = []
  #hasReasoning = false
  #hasContainers = false

  write(content: readonly Content[]): EncodedAnswer {
    for (const block of content) {
      const payload = replayPayload(block.providerState)
      if (!isShownElsewhere(block, payload)) this.#add(block, payload)
    }
    this.#endMessage()
    return { json: this.#items.join(','), ids: this.#ids, hasReasoning: this.#hasReasoning, hasContainers: this.#hasContainers }
  }

  #add(block: Content, payload: ReplayPayload): void {
    if (block.type === 'text') {
      this.#part(textPart(block, payload), payload, block.text)
      return
    }
    if (payload.part !== undefined) {
      this.#part(payload.part, payload, '')
      return
    }
    this.#endMessage()
    if (block.type === 'thinking') {
      if (payload.item !== undefined) this.#own(payload.item)
      this.#hasReasoning = true
    } else if (block.type === 'toolCall') {
      const id = legalItemId(payload.id, 'fc')
      if (id !== undefined) this.#ids.push(id)
      this.#items.push(callJson(block, payload, id))
    } else this.#service(block, payload.items ?? [])
  }

  #service(block: Content, items: readonly JsonObject[]): void {
    for (const item of items) {
      if (usesContainer(item)) this.#hasContainers = true
      const isPicture = block.type === 'image' && block.data !== undefined && item.type === 'image_generation_call'
      this.#own(isPicture ? { ...item, result: block.data ?? null } : item)
    }
  }

  #own(item: JsonObject): void {
    const id = reasoningId(item)
    if (id !== '') this.#ids.push(id)
    this.#items.push(toJson(item))
  }

  #part(part: JsonObject, { id, phase }: ReplayPayload, words: string): void {
    if (this.#message !== undefined && this.#message.id === id) {
      this.#parts.push(part)
      return
    }
    this.#endMessage()
    const legal = legalItemId(id, 'msg')
    if (legal === undefined) {
      this.#items.push(...bareText(words))
      return
    }
    this.#ids.push(legal)
    this.#message = { type: 'message', role: 'assistant', id: legal, status: 'completed', ...(phase === undefined ? {} : { phase }) }
    this.#parts = [part]
  }

  #endMessage(): void {
    if (this.#message !== undefined) this.#items.push(toJson({ ...this.#message, content: this.#parts }))
    this.#message = undefined
  }
}

function usesContainer({ type }: JsonObject): boolean {
  return type === 'code_interpreter_call'
}

/** Encodes an approval request with its response. Other tools become text. */
function bareServiceTool(block: Extract<Content, { type: 'serviceTool' }>): string[] {
  const request = replayPayload(block.providerState).items?.find(({ type }) => type === 'mcp_approval_request')
  return request === undefined ? bareText(serviceToolText(block)) : [toJson(request)]
}

/** Encodes text without an id in the short form, which every provider accepts. */
function bareText(text: string): string[] {
  return text.trim() === '' ? [] : [toJson({ role: 'assistant', content: text })]
}

function textPart({ text }: TextContent, { annotations = [] }: ReplayPayload): JsonObject {
  return { type: 'output_text', text, annotations }
}

function callJson(call: ToolCallContent, { namespace, caller }: ReplayPayload, id?: string): string {
  const item: JsonObject = { type: 'function_call', call_id: call.id, name: legalName(call.name), arguments: toJson(call.arguments) }
  if (namespace !== undefined) item.namespace = namespace
  if (caller !== undefined) item.caller = caller
  return toJson(id === undefined ? item : { ...item, id })
}

/** Returns a valid item id, because some providers issue ids that they do not accept. */
function legalItemId(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(`${prefix}_`) && id.length <= 64 && legalItemName.test(id) ? id : undefined
}
