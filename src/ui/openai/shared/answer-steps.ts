import type { Citation, Content, ImageContent } from '../../../contract/message/content.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import { combineUsage, emptyUsage, type Usage } from '../../../contract/model/usage.ts'
import type { AgentEndEvent, AgentEvent, MessageUpdateEvent } from '../../../contract/run/event.ts'
import type { PendingApproval } from '../../../contract/run/run-facts.ts'
import { OpenCalls, type WaitingForPerson } from '../../shared/open-calls.ts'

/** A source on the web, and what of the text rests on it: UTF-16 units from 0. */
export interface UrlCitation {
  type: 'url_citation'
  url: string
  title: string
  start_index: number
  end_index: number
}

/** A source that has an address; `undefined` for another. `start` is where its text begins, `end` where that ended when it was cited. */
export function urlCitation({ url, title = '', range }: Citation, start: number, end: number): UrlCitation | undefined {
  if (url === undefined) return undefined
  const place =
    range === undefined ? { start_index: start, end_index: end } : { start_index: start + range.start, end_index: start + range.end }
  return { type: 'url_citation', url, title, ...place }
}

/** A piece of a text, or of reasoning. */
export interface SaidStep {
  type: 'text' | 'reasoning'
  messageId: string
  contentIndex: number
  delta: string
}

/** What a caller of OpenAI's APIs is told of a run. Tools that the agent runs inside are none of it. */
export type AnswerStep =
  | SaidStep
  /** What the text rests on that was told of this block. */
  | { type: 'cited'; messageId: string; contentIndex: number; citation: Citation }
  /** A picture of the model: base64. */
  | { type: 'picture'; messageId: string; contentIndex: number; data: string; mimeType: string }
  /** The message is whole: all of its texts were told. */
  | { type: 'answered'; messageId: string; message: AssistantMessage }
  /** The caller is to run its tool. */
  | { type: 'call'; call: PendingApproval }
  /** The caller is to say whether the agent may run a tool of its own. */
  | { type: 'approval'; approval: PendingApproval }
  | { type: 'end'; event: AgentEndEvent }

/** What the steps have to know besides the events. */
export interface AnswerStepsOptions {
  /** Ids of messages that the caller itself has sent: they are no answer. */
  given?: ReadonlySet<string>
  /**
   * Tells each message when it is whole, not as it grows, and none that failed: for an answer in one piece, in which nothing was shown that a retry or a guard has
   * replaced. Default `false`.
   */
  isWhole?: boolean
}

/**
 * The steps of one answer, from the events of its run.
 *
 * **Contract**
 * - A call of the caller's tool is told once it waits, with arguments that were checked: one that the model got wrong is told to the model, not to the caller.
 * - No text is kept, only how much of each block was told.
 */
export class AnswerSteps {
  readonly #options: Required<AnswerStepsOptions>
  readonly #calls = new OpenCalls()
  /** Calls and approvals that were told, by what they are about. */
  readonly #told = new Set<string>()
  #live: string | undefined
  /** Characters that were told, and sources, by the place of the block in its message. */
  #shown: number[] = []
  #cited: number[] = []
  #isEnded = false
  /** Of the answers that were seen. */
  usage: Usage = emptyUsage()

  constructor({ given = new Set(), isWhole = false }: AnswerStepsOptions) {
    this.#options = { given, isWhole }
  }

  /** Whether the run waits for the caller, who answers in another request. */
  get waiting(): WaitingForPerson {
    return this.#live === undefined && !this.#isEnded ? this.#calls.waiting : 'no'
  }

  take(event: AgentEvent): AnswerStep[] {
    switch (event.type) {
      case 'messageStart':
        if (event.message.role === 'assistant' && !this.#options.given.has(event.messageId)) this.#begin(event.messageId)
        return []
      case 'messageUpdate':
        return this.#options.isWhole ? [] : this.#delta(event)
      case 'messageEnd':
        return event.message.role === 'assistant' && !this.#options.given.has(event.messageId)
          ? this.#answered(event.messageId, event.message)
          : []
      case 'approvalRequested':
        this.#calls.asked(this.#calls.of(event), event)
        return this.#asked('approval', event)
      case 'approvalResolved':
        this.#calls.resolved(event)
        return []
      case 'clientCallRequested':
        this.#calls.handedOut(this.#calls.of(event), event)
        return this.#asked('call', event)
      case 'clientCallResolved':
        this.#calls.handedBack(event)
        return []
      case 'toolExecutionStart': {
        const call = this.#calls.get(event.toolCallId)
        if (call !== undefined) call.state = 'running'
        return []
      }
      case 'toolExecutionEnd':
        this.#calls.ended(event.toolCallId)
        return []
      case 'agentEnd':
        this.#isEnded = true
        return [
          ...(event.pendingApprovals ?? []).flatMap((pending) => this.#asked('approval', pending)),
          ...(event.pendingClientCalls ?? []).flatMap((pending) => this.#asked('call', pending)),
          { type: 'end', event },
        ]
      default:
        return []
    }
  }

  #begin(messageId: string): void {
    this.#live = messageId
    this.#shown = []
    this.#cited = []
    this.#calls.clear()
  }

  #delta({ messageId, delta }: MessageUpdateEvent): AnswerStep[] {
    // Of a message whose beginning was missed, all is told at its end.
    if (this.#live !== messageId) return []
    if (delta.type === 'citation') return [this.#cite(messageId, delta.contentIndex, delta.citation)]
    if ((delta.type !== 'text' && delta.type !== 'thinking') || delta.delta === '') return []
    // Clients have a place for it, which the end of the message fills.
    if (delta.type === 'text' && delta.refusal === true) return []
    return [this.#grow(delta.type === 'text' ? 'text' : 'reasoning', messageId, delta.contentIndex, delta.delta)]
  }

  #grow(type: 'text' | 'reasoning', messageId: string, contentIndex: number, delta: string): AnswerStep {
    this.#shown[contentIndex] = (this.#shown[contentIndex] ?? 0) + delta.length
    return { type, messageId, contentIndex, delta }
  }

  #cite(messageId: string, contentIndex: number, citation: Citation): AnswerStep {
    this.#cited[contentIndex] = (this.#cited[contentIndex] ?? 0) + 1
    return { type: 'cited', messageId, contentIndex, citation }
  }

  #answered(messageId: string, message: AssistantMessage): AnswerStep[] {
    if (this.#live !== messageId) this.#begin(messageId)
    this.#live = undefined
    this.usage = combineUsage(this.usage, message.usage)
    if (this.#options.isWhole && message.stopReason === 'error') return []
    const rest = message.content.flatMap((block, index) => this.#rest(messageId, block, index))
    for (const block of message.content) if (block.type === 'toolCall') this.#calls.written(block)
    return [...rest, { type: 'answered', messageId, message }]
  }

  /** What of a block was not told yet. */
  #rest(messageId: string, block: Content, index: number): AnswerStep[] {
    if (block.type === 'image') return pictureIn(messageId, index, block)
    if (block.type !== 'text' && block.type !== 'thinking') return []
    const whole = block.type === 'text' ? block.text : block.thinking
    const rest = whole.slice(this.#shown[index] ?? 0)
    const said = rest === '' ? [] : [this.#grow(block.type === 'text' ? 'text' : 'reasoning', messageId, index, rest)]
    if (block.type === 'thinking') return said
    const sources = (block.citations ?? []).slice(this.#cited[index] ?? 0)
    return [...said, ...sources.map((citation) => this.#cite(messageId, index, citation))]
  }

  #asked(type: 'call' | 'approval', pending: PendingApproval): AnswerStep[] {
    const { toolCallId, toolName, arguments: args, argumentsHash, subAgent } = pending
    const key = `${type}/${subAgent?.loopId ?? ''}/${toolCallId}/${argumentsHash}`
    if (this.#told.has(key)) return []
    this.#told.add(key)
    const asked = { toolCallId, toolName, arguments: args, argumentsHash, ...(subAgent !== undefined && { subAgent }) }
    if (type === 'approval') return [{ type, approval: asked }]
    // What sub-agents have pages do is none of the answer.
    return subAgent === undefined ? [{ type, call: asked }] : []
  }
}

/** A picture with its bytes; one that is only named elsewhere is not shown. */
function pictureIn(messageId: string, contentIndex: number, { data, mimeType }: ImageContent): AnswerStep[] {
  return data === undefined ? [] : [{ type: 'picture', messageId, contentIndex, data, mimeType: mimeType ?? 'image/png' }]
}
