import { text } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { ToolContext } from '../../types/tool/tool.ts'

/** A new update is worth sending when the text has grown by this share. */
const growth = 1.25
/** Units of text all updates together may have, as a multiple of the text, before a note has to wait … */
const noteAllowance = 8
/** … and what they may have in any case. */
const freeUnits = 16_384

/**
 * Turns the events of a sub-agent into reports of its call: what it says and which tools it calls as partial results, its status lines as
 * status lines, and, where asked for, every event as it is.
 *
 * **Contract**
 * - A partial result replaces the one before, so each holds all the text so far. They come when the text has grown by a quarter, and at
 *   tool calls: all together a small multiple of the text, however long it gets.
 * - `flush` reports what was held back.
 */
export class ChildReports {
  readonly #ctx: ToolContext
  readonly #passEvents: boolean
  #text = ''
  #shown = 0
  #sent = 0

  constructor(ctx: ToolContext, passEvents: boolean) {
    this.#ctx = ctx
    this.#passEvents = passEvents
  }

  /** Receives the events of the child. */
  readonly accept = (event: AgentEvent): void => {
    if (this.#passEvents) this.#ctx.childEvent(event)
    switch (event.type) {
      case 'messageUpdate':
        if (event.delta.type === 'text') this.#say(event.delta.delta)
        break
      case 'messageStart':
        if (event.message.role === 'assistant') this.#endLine()
        break
      case 'toolExecutionStart':
        this.#note(`[sub-agent calling tool: ${event.toolName}]`)
        break
      case 'progressMessage':
        this.#ctx.progress(event.text)
        break
    }
  }

  flush(): void {
    if (this.#shown < this.#text.length) this.#show()
  }

  #say(delta: string): void {
    this.#text += delta
    if (this.#text.length > this.#shown * growth) this.#show()
  }

  #note(line: string): void {
    this.#endLine()
    this.#text += `${line}\n`
    const { length } = this.#text
    if (this.#sent + length <= length * noteAllowance + freeUnits) this.#show()
  }

  #endLine(): void {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#text += '\n'
  }

  #show(): void {
    this.#shown = this.#text.length
    this.#sent += this.#shown
    this.#ctx.update({ content: [text(this.#text)] })
  }
}
