import { argumentsHash } from '../../base/hash.ts'
import { waitingApprovals, waitingClientCalls } from '../../base/questions.ts'
import { isJsonObject } from '../../contract/json.ts'
import { type Content, isMedia, type ServiceToolContent, type ToolCallContent } from '../../contract/message/content.ts'
import { type DataPart, dataPartOf } from '../../contract/message/data-part.ts'
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
import type { CostOf, Interjection, UiDataPart, UiMessage, UiMetadata, UiPart, UiToolCall, UiToolState } from './ui-message.ts'

/** Options for `toUiMessages`: pending calls, and prices. */
export interface UiMessageOptions {
  /**
   * Pending approvals. Default: those that a paused run recorded in the history. For the complete list, pass `run.pendingApprovals()` of a
   * live run, or otherwise `agent.pendingApprovals()`.
   */
  approvals?: readonly PendingApproval[]
  /** Pending client tool calls. Default: those that a paused run recorded in the history. */
  clientCalls?: readonly PendingClientCall[]
  /** Returns a response's price, for `metadata.costUsd`. */
  cost?: CostOf
}

const messageOptions = optionsOf<UiMessageOptions>({ approvals: listOf(anything), clientCalls: listOf(anything), cost: aFunction })

/**
 * Converts a history to `useChat` messages. Pass the result as `messages` when a page loads.
 *
 * **Contract**
 * - The messages equal those that clients build from streamed chunks, except for data that only events contain. These are granted
 *   approvals, arguments that a hook replaced, sub-agent calls, result `details`, and `status`. Streams send the names of generated files
 *   in `providerMetadata.phi`.
 * - A response is one message: everything between two user messages, including steering. The id of a response is that of the first message
 *   in it, so ids are the same in every process. `historyIndexOf` maps an id to a history index.
 * - A response that ends with calls ends with an empty step, so that `useChat` does not send their results again.
 * - An extension message of the application becomes a part `data-{kind}` with its id: in the response before it, or in a separate message.
 *   Streams send one that precedes a prompt with the response to that prompt.
 * - Omits retried failed responses and provider signatures.
 */
export function toUiMessages(messages: readonly AgentMessage[], options: UiMessageOptions = {}): UiMessage[] {
  checkOptions(options, messageOptions)
  const { shown, last } = readAnswers(messages, options)
  if (last?.isOver === true) last.message.parts.push(emptyStep)
  return shown
}

/** Returns the index in `messages` of the message with the client's `id`, or `undefined` if it does not exist. */
export function historyIndexOf(messages: readonly AgentMessage[], id: string): number | undefined {
  const index = messages.findIndex((message) => message.id === id)
  return index < 0 ? undefined : index
}

/** Result of `readAnswers`: all messages, and the last response, which a run may extend. */
export interface ReadAnswers {
  shown: UiMessage[]
  last: OpenAnswer | undefined
}

export function readAnswers(messages: readonly AgentMessage[], { approvals, clientCalls, cost }: UiMessageOptions): ReadAnswers {
  const shown: UiMessage[] = []
  let answer: OpenAnswer | undefined
  const opened = (id: string): OpenAnswer => {
    const made = new OpenAnswer(id, cost)
    shown.push(made.message)
    return made
  }
  for (const message of messages) {
    if (message.role === 'extension') {
      answer?.heldBack(openCallsOf(message))
      const part = dataPartOf(message)
      if (part === undefined) continue
      answer ??= opened(message.id)
      answer.data(part)
    } else if (message.role === 'user') {
      if (answer?.takesIn(message) === true) continue
      answer?.close()
      answer = undefined
      // Do not show a background report that an earlier run did not receive.
      if (!isReport(message)) shown.push({ id: message.id, role: 'user', parts: partsOf(message.content) })
    } else if (message.role === 'toolResult') answer?.result(message)
    else {
      answer ??= opened(message.id)
      answer.add(message)
    }
  }
  answer?.ask(approvals ?? waitingApprovals(messages))
  answer?.handOut(clientCalls ?? waitingClientCalls(messages))
  return { shown, last: answer }
}

/** Ends a response whose last step made calls. Without a following step, `useChat` would send their results again. */
export const emptyStep = { type: 'step-start' } as const

/** A call without a result, and the index of its part. */
interface OpenPart {
  at: number
  call: UiToolCall
}

/** A response under construction. */
export class OpenAnswer {
  readonly message: UiMessage
  readonly loops = new AnswerLoops()
  readonly #cost: CostOf | undefined
  readonly #open = new Map<string, OpenPart>()
  /** Open provider-executed calls. */
  readonly #services = new Map<string, { at: number; block: ServiceToolContent }>()
  /** Index of the last model call's first part. */
  #step = 0
  #failedLoop: string | undefined
  /** Number of steps. */
  steps = 0
  /** Whether the last step made calls that this package must respond to. */
  hasCalls = false
  /** Pending approvals. */
  asked: readonly PendingApproval[] = []

  constructor(id: string, cost: CostOf | undefined) {
    this.message = { id, role: 'assistant', parts: [] }
    this.#cost = cost
  }

  /** Returns whether the last step made calls and all of them have results. */
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

  /** Adds `message` if it was sent during this response. Returns whether it was added. */
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

  /** Adds a provider-executed call, or updates the part of a call still open from an earlier message. */
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
    const { toolCallId, content, isError, edited } = message
    const open = this.#open.get(toolCallId)
    if (open !== undefined && edited !== undefined) open.call = { ...open.call, input: edited.arguments }
    const input = open?.call.input
    const denial = denialOf({ content, isError })
    if (denial !== undefined) {
      const id = approvalIdOf({ toolCallId, argumentsHash: argumentsHash(isJsonObject(input) ? input : {}) })
      this.#end(toolCallId, { state: 'output-denied', approval: { id, approved: false, ...denial } })
    } else if (isError) this.#end(toolCallId, { state: 'output-error', errorText: textOf(content) })
    else this.#end(toolCallId, { state: 'output-available', output: outputOf(content) })
  }

  /** Adds a data part, or replaces the part with the same type and id. */
  data(part: DataPart): void {
    const shown = dataPart(part)
    const at = this.message.parts.findIndex((each) => each.type === shown.type && 'id' in each && each.id === shown.id)
    this.message.parts[at < 0 ? this.message.parts.length : at] = shown
  }

  /** Shows calls that wait for another call's decision. They stay open. */
  heldBack(toolCallIds: readonly string[]): void {
    for (const id of toolCallIds) this.#show(id, { state: 'output-available', output: waitsText })
  }

  /** Adds pending approvals, including those of sub-agents, whose calls the history does not contain. */
  ask(approvals: readonly PendingApproval[]): void {
    this.asked = approvals
    // Mark open calls as finished, because `useChat` sends decisions only if no call is open.
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

  /** Adds the run's pending client calls, with the part types of client tools. */
  handOut(clientCalls: readonly PendingClientCall[]): void {
    for (const { toolCallId, toolName, args: input, subAgent } of clientCalls) {
      const open = subAgent === undefined ? this.#open.get(toolCallId) : undefined
      if (open === undefined) continue
      open.call = { ...open.call, type: `tool-${toolName}`, input }
      this.#show(toolCallId, { state: 'input-available' })
    }
  }

  /** Ends the response. Marks open calls as unanswered, because the conversation has continued. */
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

/** Converts a user message sent during a response. */
export function interjection(message: UserMessage & { id: string }): Interjection {
  const text = noticeOf(message)
  if (text !== undefined) return { type: 'data-phi-notice', data: { text } }
  return { type: 'steering-message', id: message.id, parts: partsOf(message.content) }
}

/** Converts a data part to a `useChat` part. */
export function dataPart({ name, dataId, value }: DataPart): UiDataPart {
  return { type: `data-${name}`, id: dataId, data: value }
}

/** Returns the title of a sub-agent's call: sub-agent name and tool name. */
export function titleOf(subAgent: string, toolName: string): string {
  return `${subAgent}: ${toolName}`
}

/** Converts a call with the model's original arguments. */
export function callOf({ id, name, arguments: args, invalidArguments }: ToolCallContent): UiToolCall {
  return { type: 'dynamic-tool', toolCallId: id, toolName: name, input: invalidArguments ?? args }
}

/** Returns the metadata after one more model response. */
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
