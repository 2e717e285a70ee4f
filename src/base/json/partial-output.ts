import { isJsonObject, type JsonValue } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { PartialJson, within } from './partial-json.ts'

/**
 * Parses a run's structured response while its events arrive.
 *
 * **Contract**
 * - The next message replaces a failed attempt, or a response that preceded a tool call.
 * - Parses a message when it is complete if deltas were missed or a hook replaced the message.
 * - Each delta costs time proportional to its length.
 */
export class PartialOutput {
  readonly #form: () => OutputForm | undefined
  #json = new PartialJson()
  /** Whether the response has no wrapper. Known once the response has started. */
  #isBare: boolean | undefined
  #block = 0
  /** Id of the message being parsed. Ignores deltas of other messages, whose beginning was missed. */
  #messageId: string | undefined
  /** Latest value. */
  #endedId: string | undefined

  /** Calls `form` each time, because it is unknown before the run starts. */
  constructor(form: () => OutputForm | undefined) {
    this.#form = form
  }

  /** Processes one event. Returns whether the value may have changed. */
  take(event: AgentEvent): boolean {
    if (event.type === 'messageUpdate') {
      if (event.delta.type !== 'text' || event.messageId !== this.#messageId) return false
      this.#say(event.delta.contentIndex, event.delta.delta)
      return true
    }
    if (event.type === 'messageStart' && event.message.role === 'assistant') this.#begin(event.messageId)
    if (event.type === 'messageEnd') return this.#ended(event.messageId, event.message)
    // Very late readers receive only this event.
    const last = event.type === 'agentEnd' ? event.messages.findLast(({ role }) => role === 'assistant') : undefined
    return last !== undefined && last.id !== this.#endedId && this.#ended(last.id, last)
  }

  #ended(messageId: string, message: AgentMessage): boolean {
    if (message.role !== 'assistant') return false
    // Discard a rejected or replaced response.
    if (messageId !== this.#messageId || message.guarded !== undefined) {
      this.#begin(messageId)
      this.read(message.content.map((block) => (block.type === 'text' ? block.text : '')))
    }
    this.#messageId = undefined
    this.#endedId = messageId
    this.#json.end()
    return true
  }

  /** Processes all blocks of a message. */
  read(texts: readonly string[]): void {
    for (const [block, text] of texts.entries()) if (text !== '') this.#say(block, text)
  }

  /** Records that part of the current message was missed. */
  miss(): void {
    this.#messageId = undefined
  }

  /** Returns the response so far. Immutable. See `PartialJson.snapshot`. */
  get value(): JsonValue | undefined {
    return this.#path([]).reduce(within, this.#json.snapshot())
  }

  /** Returns the current text, which is new for each attempt. */
  get attempt(): object {
    return this.#json
  }

  /** Returns the complete elements of the list at `path`, starting at index `from`. */
  elements(path: readonly string[], from: number): JsonValue[] {
    const names = this.#path(path)
    const whole = this.#json.completeElements(names)
    if (whole <= from) return []
    const list = names.reduce(within, this.#json.value)
    return Array.isArray(list) ? list.slice(from, whole) : []
  }

  /** Returns the path within the response. Models without an enforced format may omit the wrapper. */
  #path(names: readonly string[]): readonly string[] {
    const property = this.#form()?.property
    if (property === undefined) return names
    this.#isBare ??= isBare(this.#json.value, property)
    return this.#isBare === true ? names : [property, ...names]
  }

  #renew(): void {
    this.#json = new PartialJson()
    this.#isBare = undefined
  }

  #begin(messageId: string): void {
    this.#renew()
    this.#block = 0
    this.#messageId = messageId
  }

  /** Parses a block's text. If a model writes an introduction first, the last text is the response. */
  #say(block: number, text: string): void {
    if (block !== this.#block && this.#json.isBroken) this.#renew()
    this.#block = block
    this.#json.push(text)
  }
}

/** Returns whether the response starts without the expected wrapper property. `undefined` until this is known. */
function isBare(value: JsonValue | undefined, property: string): boolean | undefined {
  if (!isJsonObject(value)) return value === undefined ? undefined : true
  const [first] = Object.keys(value)
  return first === undefined ? undefined : first !== property
}
