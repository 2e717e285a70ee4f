import { argumentsHash } from '../../base/hash.ts'
import { waitingApprovals, waitingClientCalls } from '../../base/questions.ts'
import { isJsonObject } from '../../contract/json.ts'
import { type Content, isMedia, type ServiceToolContent, type ToolCallContent } from '../../contract/message/content.ts'
import {
  type AgentMessage,
  type AssistantMessage,
  hasCallsToAnswer,
  isReport,
  loopIdOf,
  type MessageEnvelope,
  shownContent,
  type ToolResultMessage,
  textOf,
  type UserMessage,
} from '../../contract/message/message.ts'
import { combineUsage, emptyUsage } from '../../contract/model/usage.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, anything, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import { openCallsOf } from '../../types/tool/open-calls.ts'
import { AnswerLoops, denialOf, isCut, noticeOf, notRunText, unansweredText, waitsText } from '../shared/answers.ts'
import { approvalIdOf } from '../shared/client-input.ts'
import { blockId, fileParts, outputOf, partsOf, transcriptPart } from './parts.ts'
import { serviceCallOf, serviceStateOf, sourceParts } from './service-parts.ts'
import type { CostOf, Interjection, UiMessage, UiMetadata, UiPart, UiToolCall, UiToolState } from './ui-message.ts'

/** Options of `toUiMessages`: pending calls, and prices. */
export interface UiMessageOptions {
  /**
   * Pending approvals. Default: those of a paused run. `run.pendingApprovals()` of a live run, else `agent.pendingApprovals()`,
   * knows all.
   */
  approvals?: readonly PendingApproval[]
  /** Pending client tool calls, as `approvals`. Default: those of a paused run. */
  clientCalls?: readonly PendingClientCall[]
  /** Prices, for `metadata.costUsd`. */
  cost?: CostOf
}

const messageOptions = optionsOf<UiMessageOptions>({ approvals: listOf(anything), clientCalls: listOf(anything), cost: aFunction })

/**
 * Converts a history to messages of `useChat`: pass it as `messages` when a page opens.
 *
 * **Contract**
 * - Equals the messages that the chunks of the runs build, except for data that only events have. These are given approvals, arguments that
 *   a hook replaced, calls of sub-agents, `details` of results, and `status`. A stream has names of model-made files in
 *   `providerMetadata.phi`.
 * - A response is one message: everything between two user messages, including steering. The id of a response is that of its first message,
 *   so ids are the same in every process. `historyIndexOf` maps them back.
 * - A response that ends with calls ends with an empty step, so that `useChat` does not send their results again.
 * - Omits failed responses that were retried, messages of the application and provider signatures.
 */
export function toUiMessages(messages: readonly AgentMessage[], options: UiMessageOptions = {}): UiMessage[] {
  checkOptions(options, messageOptions)
  const { shown, last } = readAnswers(messages, options)
  if (last?.isOver === true) last.message.parts.push(emptyStep)
  return shown
}

/** Returns the index in `messages` of the message that a client knows as `id`; `undefined` if there is none. */
export function historyIndexOf(messages: readonly AgentMessage[], id: string): number | undefined {
  const index = messages.findIndex((message) => message.id === id)
  return index < 0 ? undefined : index
}

/** Result of `readAnswers`: all messages, and the last answer, which a run may extend. */
export interface ReadAnswers {
  shown: UiMessage[]
  last: OpenAnswer | undefined
}

export function readAnswers(messages: readonly AgentMessage[], { approvals, clientCalls, cost }: UiMessageOptions): ReadAnswers {
  const shown: UiMessage[] = []
  let answer: OpenAnswer | undefined
  for (const message of messages) {
    if (message.role === 'extension') {
      answer?.heldBack(openCallsOf(message))
    } else if (message.role === 'user') {
      if (answer?.takesIn(message) === true) continue
      answer?.close()
      answer = undefined
      // A report that an earlier run did not receive.
      if (!isReport(message)) shown.push({ id: message.id, role: 'user', parts: partsOf(message.content) })
    } else if (message.role === 'toolResult') answer?.result(message)
    else {
      if (answer === undefined) {
        answer = new OpenAnswer(message.id, cost)
        shown.push(answer.message)
      }
      answer.add(message)
    }
  }
  answer?.ask(approvals ?? waitingApprovals(messages))
  answer?.handOut(clientCalls ?? waitingClientCalls(messages))
  return { shown, last: answer }
}

/** Ends an answer whose last step made calls: without a following step, `useChat` would send their results again. */
export const emptyStep = { type: 'step-start' } as const

/** A call without a result, and where its part is. */
interface OpenPart {
  at: number
  call: UiToolCall
}

/** An answer under construction. */
export class OpenAnswer {
  readonly message: UiMessage
  readonly loops = new AnswerLoops()
  readonly #cost: CostOf | undefined
  readonly #open = new Map<string, OpenPart>()
  /** Open provider-executed calls. */
  readonly #services = new Map<string, { at: number; block: ServiceToolContent }>()
  /** Start of the parts of the last model call. */
  #step = 0
  #failedLoop: string | undefined
  /** How many steps there are. */
  steps = 0
  /** Whether the last step made calls of our own tools. */
  hasCalls = false
  /** Pending approvals. */
  asked: readonly PendingApproval[] = []

  constructor(id: string, cost: CostOf | undefined) {
    this.message = { id, role: 'assistant', parts: [] }
    this.#cost = cost
  }

  /** Returns whether its last step made calls, and none is open. */
  get isOver(): boolean {
    return this.hasCalls && this.#open.size === 0 && this.asked.length === 0
  }

  /** Calls without a result. */
  get open(): UiToolCall[] {
    return Array.from(this.#open.values(), ({ call }) => call)
  }

  /** Open provider-executed calls. */
  get openServices(): ServiceToolContent[] {
    return Array.from(this.#services.values(), ({ block }) => block)
  }

  /** Returns whether `message` was sent during this answer, and is part of it. */
  takesIn(message: UserMessage & MessageEnvelope): boolean {
    if (!this.loops.has(loopIdOf(message))) return false
    this.message.parts.push(interjection(message))
    return true
  }

  add(message: AssistantMessage & MessageEnvelope): void {
    const { parts } = this.message
    const loopId = loopIdOf(message)
    if (this.#failedLoop !== undefined && this.#failedLoop === loopId) {
      parts.splice(this.#step + 1)
      for (const [id, { at }] of this.#services) if (at > this.#step) this.#services.delete(id)
    } else {
      this.#step = parts.push({ type: 'step-start' }) - 1
      this.steps += 1
    }
    this.loops.add(loopId)
    this.#open.clear()
    this.hasCalls = hasCallsToAnswer(message.content)
    const isUnfinished = isCut(message)
    this.#failedLoop = message.stopReason === 'error' ? loopId : undefined
    for (const [index, block] of shownContent(message).entries()) {
      if (block.type === 'toolCall') this.#call(callOf(block), isUnfinished)
      else if (block.type === 'serviceTool') this.#service(block, isUnfinished)
      else parts.push(...this.#messageParts(block, index))
    }
    parts.push(...sourceParts(message.content, this.steps))
    this.message.metadata = metadataAfter(this.message.metadata, message, this.#cost)
  }

  #messageParts(block: Exclude<Content, ToolCallContent | ServiceToolContent>, index: number): UiPart[] {
    if (isMedia(block)) return [...fileParts(block), ...transcriptPart(block)]
    if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text, state: 'done' }]
    if (block.type !== 'thinking') return []
    return block.thinking === '' ? [] : [{ type: 'reasoning', id: blockId(this.steps, index), text: block.thinking, state: 'done' }]
  }

  #call(call: UiToolCall, isUnfinished: boolean): void {
    const at = this.message.parts.push({ ...call, state: 'input-available' }) - 1
    this.#open.set(call.toolCallId, { at, call })
    if (isUnfinished) this.#end(call.toolCallId, { state: 'output-error', errorText: notRunText })
  }

  /** A provider-executed call. A result of a call that an earlier message has left open goes to its part. */
  #service(block: ServiceToolContent, isUnfinished: boolean): void {
    const { parts } = this.message
    const call = serviceCallOf(block)
    const at = this.#services.get(block.id)?.at ?? parts.length
    parts[at] = { ...call, ...serviceStateOf(block, isUnfinished) }
    if (block.status !== 'running' || isUnfinished) this.#services.delete(block.id)
    else if (block.needsApproval) this.#open.set(block.id, { at, call })
    else this.#services.set(block.id, { at, block })
  }

  result(message: ToolResultMessage & MessageEnvelope): void {
    this.loops.add(loopIdOf(message))
    const { toolCallId, content, isError } = message
    const input = this.#open.get(toolCallId)?.call.input
    const denial = denialOf({ content, isError })
    if (denial !== undefined) {
      const id = approvalIdOf({ toolCallId, argumentsHash: argumentsHash(isJsonObject(input) ? input : {}) })
      this.#end(toolCallId, { state: 'output-denied', approval: { id, approved: false, ...denial } })
    } else if (isError) this.#end(toolCallId, { state: 'output-error', errorText: textOf(content) })
    else this.#end(toolCallId, { state: 'output-available', output: outputOf(content) })
  }

  /** Calls that another one holds back. They stay open. */
  heldBack(toolCallIds: readonly string[]): void {
    for (const id of toolCallIds) this.#show(id, { state: 'output-available', output: waitsText })
  }

  /** Adds pending approvals, also of sub-agents, whose calls are in no message. */
  ask(approvals: readonly PendingApproval[]): void {
    this.asked = approvals
    // An open call looks answered, or the client would never send what a person decides.
    if (approvals.length > 0)
      for (const { at, block } of this.#services.values())
        this.message.parts[at] = { ...serviceCallOf(block), state: 'output-available', output: waitsText }
    for (const { toolCallId, toolName, args: input, argumentsHash: hash, subAgent } of approvals) {
      const request: UiToolState = { state: 'approval-requested', approval: { id: approvalIdOf({ toolCallId, argumentsHash: hash }) } }
      if (subAgent === undefined) {
        const open = this.#open.get(toolCallId)
        if (open !== undefined) open.call = { ...open.call, input }
        this.#show(toolCallId, request)
      } else {
        const part = { type: 'dynamic-tool', toolCallId: `${subAgent.loopId}/${toolCallId}`, toolName, input } as const
        this.message.parts.push({ ...part, title: titleOf(subAgent.toolName, toolName), ...request })
      }
    }
  }

  /** Pages are to run calls: those of the run itself are shown under the names that pages have for their tools. */
  handOut(clientCalls: readonly PendingClientCall[]): void {
    for (const { toolCallId, toolName, args: input, subAgent } of clientCalls) {
      const open = subAgent === undefined ? this.#open.get(toolCallId) : undefined
      if (open === undefined) continue
      open.call = { ...open.call, type: `tool-${toolName}`, input }
      this.#show(toolCallId, { state: 'input-available' })
    }
  }

  /** The conversation has continued: missing results will not come. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, { state: 'output-error', errorText: unansweredText })
    if (this.hasCalls) this.message.parts.push(emptyStep)
  }

  #end(toolCallId: string, state: UiToolState): void {
    this.#show(toolCallId, state)
    this.#open.delete(toolCallId)
  }

  #show(toolCallId: string, state: UiToolState): void {
    const open = this.#open.get(toolCallId)
    if (open !== undefined) this.message.parts[open.at] = { ...open.call, ...state }
  }
}

/** Returns messages sent during an answer. */
export function interjection(message: UserMessage & { id: string }): Interjection {
  const text = noticeOf(message)
  if (text !== undefined) return { type: 'data-phi-notice', data: { text } }
  return { type: 'steering-message', id: message.id, parts: partsOf(message.content) }
}

/** Names the call of a sub-agent: the sub-agent and the tool. */
export function titleOf(subAgent: string, toolName: string): string {
  return `${subAgent}: ${toolName}`
}

/** A call as the model wrote it. */
export function callOf({ id, name, arguments: args, invalidArguments }: ToolCallContent): UiToolCall {
  return { type: 'dynamic-tool', toolCallId: id, toolName: name, input: invalidArguments ?? args }
}

/** Returns the totals after one more response. */
export function metadataAfter(before: UiMetadata | undefined, message: AssistantMessage, cost: CostOf | undefined): UiMetadata {
  const { model, provider, usage, outputForm: output } = message
  const price = cost?.(message)
  const costUsd = price === undefined && before?.costUsd === undefined ? undefined : (before?.costUsd ?? 0) + (price ?? 0)
  return {
    model,
    provider,
    usage: combineUsage(before?.usage ?? emptyUsage(), usage),
    ...(costUsd !== undefined && { costUsd }),
    ...(output !== undefined && { output }),
  }
}
