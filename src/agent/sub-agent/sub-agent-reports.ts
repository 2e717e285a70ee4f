import { type AgentMessage, lastAnswerText, text, textOf } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { RunResult } from '../../types/run/run.ts'
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
 * - Beside the run, the tools it calls are status lines as well.
 * - `flush` reports what was held back.
 */
export class ChildReports {
  readonly #ctx: ToolContext
  readonly #passEvents: boolean
  /** Its call is over: there is nothing to show partial results of. */
  readonly #isBeside: boolean
  #text = ''
  #shown = 0
  #sent = 0

  constructor(ctx: ToolContext, passEvents: boolean, isBeside: boolean) {
    this.#ctx = ctx
    this.#passEvents = passEvents
    this.#isBeside = isBeside
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
        if (this.#isBeside) this.#ctx.progress(`calling tool: ${event.toolName}`)
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

/** What the parent is told when a sub-agent said nothing. */
const noText = '(sub-agent produced no text output)'

/**
 * What a sub-agent came to, as the result of its call: the last text it said, and why it ended if not by itself.
 *
 * **Contract**: an error unless the sub-agent completed, or said something before it reached a limit.
 *
 * Source: docs/concepts/several-agents.md
 */
export function subAgentResult(name: string, result: RunResult): ToolResult {
  const { status, messages, usage, loopId } = result
  const said = lastAnswerText(messages)
  const reason = stopReason(result)
  const isResult = status === 'completed' || (status === 'limit' && said !== '')
  return {
    content: [text([said || noText, reason].filter((part) => part !== undefined).join('\n\n'))],
    // The specification calls the number of messages `turns`.
    details: { subAgent: name, turns: messages.length, status, usage: { ...usage } },
    ...(!isResult && { isError: true }),
    childLoopId: loopId,
  }
}

/** Says what a sub-agent was told too late, as whoever told it believes that it heard. */
export function withUnheard(result: ToolResult, unheard: readonly AgentMessage[]): ToolResult {
  if (unheard.length === 0) return result
  const words = unheard.flatMap((message) => (message.role === 'user' ? [JSON.stringify(textOf(message.content))] : []))
  return { ...result, content: [...result.content, text(`\n\nIt ended before it heard: ${words.join(', ')}`)] }
}

/** Why a loop did not end by itself, in words for the model that asked for it. */
function stopReason({ status, error, rejection, messages, pendingApprovals = [], pendingClientCalls = [] }: RunResult): string | undefined {
  switch (status) {
    case 'completed':
      return undefined
    case 'limit': {
      const notice = messages.findLast((message) => message.role === 'user')
      return notice === undefined ? 'Stopped by a limit.' : textOf(notice.content)
    }
    case 'error':
      return error?.message ?? 'Failed.'
    case 'aborted':
      return 'Cancelled'
    case 'paused':
      if (pendingApprovals.length === 0) return `Stopped: a page must run ${callNames(pendingClientCalls)}, and none answered.`
      return `Stopped: ${callNames(pendingApprovals)} must be approved by a person, and nobody answered.`
    case 'rejected':
      return `Rejected: ${rejection ?? 'no reason given'}`
  }
}

function callNames(calls: readonly { toolName: string }[]): string {
  return calls.map((call) => `the call of "${call.toolName}"`).join(', ')
}
