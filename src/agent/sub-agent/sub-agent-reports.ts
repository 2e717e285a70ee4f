import { type AgentMessage, lastAnswerText, text, textOf } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { RunResult } from '../../types/run/run.ts'
import type { ToolContext } from '../../types/tool/tool.ts'

/** Factor by which the text must grow before the next update. */
const growth = 1.25
/** Delays progress notes while the updates' total length exceeds this multiple of the text's length … */
const noteAllowance = 8
/** … and this minimum length. */
const freeUnits = 16_384

/**
 * Converts a sub-agent's events to reports of its tool call: partial results with text and tool calls, status lines, and optionally the
 * events.
 *
 * **Contract**
 * - Each partial result contains all text so far and replaces the previous one. Updates are sent at tool calls and when the text has grown
 *   by a quarter, so that their total size is linear in the text.
 * - In a background task, each tool call also sends a status line.
 * - `flush` sends the delayed updates.
 */
export class ChildReports {
  readonly #ctx: ToolContext
  readonly #passEvents: boolean
  /** Whether the sub-agent is a background task, whose call has ended and cannot send partial results. */
  readonly #isBackground: boolean
  #text = ''
  #shown = 0
  #sent = 0

  constructor(ctx: ToolContext, passEvents: boolean, isBackground: boolean) {
    this.#ctx = ctx
    this.#passEvents = passEvents
    this.#isBackground = isBackground
  }

  /** Converts one event of the sub-agent. */
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
        if (this.#isBackground) this.#ctx.progress(`calling tool: ${event.toolName}`)
        break
      case 'progressMessage':
        this.#ctx.progress(event.text)
        break
      case 'data':
        this.#ctx.data(event.name, event.value, { id: event.dataId, ...(event.transient && { transient: true }) })
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

/** Result text if a sub-agent produced none. */
const noText = '(sub-agent produced no text output)'

/**
 * Returns a sub-agent's outcome as a tool result: the last text, and the reason if the sub-agent did not complete.
 *
 * **Contract**: returns an error result unless the sub-agent completed, or produced text before it reached a limit.
 *
 * Source: docs/concepts/several-agents.md
 */
export function subAgentResult(name: string, result: RunResult): ToolResult {
  const { status, messages, usage, loopId } = result
  const responseText = lastAnswerText(messages)
  const reason = stopReason(result)
  const isResult = status === 'completed' || (status === 'limit' && responseText !== '')
  return {
    content: [text([responseText || noText, reason].filter((part) => part !== undefined).join('\n\n'))],
    // The specification uses `turns` for the number of messages.
    details: { subAgent: name, turns: messages.length, status, usage: { ...usage } },
    ...(!isResult && { isError: true }),
    childLoopId: loopId,
  }
}

/** Appends steering messages that arrived too late, because their sender assumes that they were delivered. */
export function withUnheard(result: ToolResult, unheard: readonly AgentMessage[]): ToolResult {
  if (unheard.length === 0) return result
  const words = unheard.flatMap((message) => (message.role === 'user' ? [JSON.stringify(textOf(message.content))] : []))
  return { ...result, content: [...result.content, text(`\n\nIt ended before it heard: ${words.join(', ')}`)] }
}

/** Describes for the model why a loop did not complete. */
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
      if (pendingApprovals.length === 0) return `Stopped: ${callNames(pendingClientCalls)} must run in a client, and none responded.`
      return `Stopped: ${callNames(pendingApprovals)} needs approval, and no decision arrived.`
    case 'rejected':
      return `Rejected: ${rejection ?? 'no reason given'}`
  }
}

function callNames(calls: readonly { toolName: string }[]): string {
  return calls.map((call) => `the call of "${call.toolName}"`).join(', ')
}
