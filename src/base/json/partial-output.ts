import { isJsonObject, type JsonValue } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { PartialJson, within } from './partial-json.ts'

/**
 * Parses the response of a run as a value while its events arrive.
 *
 * **Contract**
 * - A failed attempt, and a response before a call, is dropped when the next message begins.
 * - A message with missed parts is parsed at its end; so is one that a hook has redacted.
 * - A delta costs its length.
 */
export class PartialOutput {
  readonly #form: () => OutputForm | undefined
  #json = new PartialJson()
  /** Whether the response has no wrapper; known when it has begun. */
  #isBare: boolean | undefined
  #block = 0
  /** The parsed message; parts of others were missed. */
  #messageId: string | undefined
  /** The last value. */
  #endedId: string | undefined

  /** Calls `form` each time, because a reader before the start of the run learns it later. */
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
    // A very late reader gets only this event.
    const last = event.type === 'agentEnd' ? event.messages.findLast(({ role }) => role === 'assistant') : undefined
    return last !== undefined && last.id !== this.#endedId && this.#ended(last.id, last)
  }

  #ended(messageId: string, message: AgentMessage): boolean {
    if (message.role !== 'assistant') return false
    // A rejected or replaced response leaves no trace.
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

  /** A part of the current message was missed. */
  miss(): void {
    this.#messageId = undefined
  }

  /** Returns the response so far; immutable. See `PartialJson.snapshot`. */
  get value(): JsonValue | undefined {
    return this.#path([]).reduce(within, this.#json.snapshot())
  }

  /** The current text; a new one per attempt. */
  get attempt(): object {
    return this.#json
  }

  /** The elements of the list at `path` that are whole, from the one at `from`. */
  elements(path: readonly string[], from: number): JsonValue[] {
    const names = this.#path(path)
    const whole = this.#json.completeElements(names)
    if (whole <= from) return []
    const list = names.reduce(within, this.#json.value)
    return Array.isArray(list) ? list.slice(from, whole) : []
  }

  /** Models that nobody holds to a form may leave the wrapper out. */
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

  /** Models may say something first: then the last text is the answer. */
  #say(block: number, text: string): void {
    if (block !== this.#block && this.#json.isBroken) this.#renew()
    this.#block = block
    this.#json.push(text)
  }
}

/** Whether an answer begins with something else than the property that should hold it; `undefined` before that can be told. */
function isBare(value: JsonValue | undefined, property: string): boolean | undefined {
  if (!isJsonObject(value)) return value === undefined ? undefined : true
  const [first] = Object.keys(value)
  return first === undefined ? undefined : first !== property
}
