import { isSameJson } from '../../base/json/json-value.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { ServiceToolContent, ToolCallContent } from '../../contract/message/content.ts'
import { callsToAnswer, textOf } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  ClientCallRequestedEvent,
  ClientCallResolvedEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../../contract/run/call-event.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import { denialOf, notRunText, waitsText } from '../shared/answers.ts'
import { approvalIdOf } from '../shared/client-input.ts'
import { type CallResult, type OpenCall, OpenCalls, type WaitingForPerson } from '../shared/open-calls.ts'
import { outputOf } from './parts.ts'
import { callOf, type OpenAnswer, titleOf } from './to-ui-messages.ts'
import type { UiChunk, UiToolEnd } from './ui-message.ts'

/** What a run reports of a call. */
type CallEvent =
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | ClientCallRequestedEvent
  | ClientCallResolvedEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent

/** Turns what happens to tool calls into chunks. */
export class CallChunks {
  readonly #calls = new OpenCalls()
  /** Calls of the live message whose arguments are streamed. */
  readonly #streamed = new Map<string, string>()
  readonly #send: (chunk: UiChunk) => void
  /** Names of the tools that pages run. `useChat` has a part of its own for each, and runs what it is shown as available: so that comes when it is asked to. */
  #ofPages: ReadonlySet<string> = new Set()

  constructor(send: (chunk: UiChunk) => void) {
    this.#send = send
  }

  get waiting(): WaitingForPerson {
    return this.#calls.waiting
  }

  /** Says which tools pages run. */
  runByPages(names: readonly string[]): void {
    this.#ofPages = new Set(names)
  }

  /** Goes on with the calls that `answer` has left open. */
  resume({ open, asked }: OpenAnswer): void {
    for (const { toolCallId, toolName, input } of open) {
      this.#calls.written({ id: toolCallId, name: toolName, arguments: isJsonObject(input) ? input : {} })
    }
    for (const pending of asked) this.#calls.left(pending)
  }

  /** A new message begins, or a new answer: no call of the one before is open. */
  clear(): void {
    this.#calls.clear()
    this.#streamed.clear()
  }

  /** A piece of the arguments. */
  delta({ toolCallId, toolName, delta }: Extract<StreamDelta, { type: 'toolCallDelta' }>): void {
    if (!this.#streamed.has(toolCallId)) {
      this.#streamed.set(toolCallId, toolName)
      this.#send({ type: 'tool-input-start', toolCallId, toolName, ...this.#dynamic(toolName) })
    }
    this.#send({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta })
  }

  /** The call is whole. `isCut`: its answer is not, so it is never run. */
  written(block: ToolCallContent, isCut: boolean): void {
    const { toolCallId, toolName, input } = callOf(block)
    this.#streamed.delete(toolCallId)
    const isOfPage = this.#ofPages.has(toolName)
    if (!isOfPage || isCut) this.#available({ toolCallId, toolName, input })
    if (isCut) this.#failed(toolCallId, toolName, notRunText)
    else this.#calls.written(block, !isOfPage)
  }

  /** A call that its service runs once a person has said yes; it was shown. */
  ofService(block: ServiceToolContent): void {
    for (const call of callsToAnswer([block])) this.#calls.written(call)
  }

  /** Whether a person is, or was, asked about the call. */
  has(toolCallId: string): boolean {
    return this.#calls.get(toolCallId) !== undefined
  }

  /** The message has ended: a call that it does not hold was cut off. */
  messageEnded(): void {
    for (const [toolCallId, toolName] of this.#streamed) this.#failed(toolCallId, toolName, notRunText)
    this.#streamed.clear()
  }

  /** What happens to a call after that. */
  take(event: CallEvent): void {
    if (event.type === 'approvalRequested') this.#asked(event)
    else if (event.type === 'approvalResolved') this.#resolved(event)
    else if (event.type === 'clientCallRequested') this.#handedOut(event)
    else if (event.type === 'clientCallResolved') this.#calls.handedBack(event)
    else if (event.type === 'toolExecutionStart') this.#began(event)
    else if (event.type === 'toolExecutionUpdate') this.#updated(event)
    else this.ended(event)
  }

  #asked(event: ApprovalRequestedEvent): void {
    const call = this.#shown(this.#calls.of(event), event.arguments, event.subAgent?.toolName)
    this.#calls.asked(call, event)
    this.#send({ type: 'tool-approval-request', approvalId: approvalIdOf(event), toolCallId: call.key })
  }

  /**
   * Nobody is asked any more: the call is shown as it was before, because AI SDK 6 knows no chunk for a decision. A no is shown when the call has its
   * result: a run that nobody answered in time may ask again.
   */
  #resolved(event: ApprovalResolvedEvent): void {
    const call = this.#calls.resolved(event)
    if (call !== undefined && event.approved) this.#written(call)
  }

  /** The page runs it now. What a sub-agent asks of pages is for those that speak our own protocol: here no call of the answer shows it. */
  #handedOut(event: ClientCallRequestedEvent): void {
    if (event.subAgent !== undefined) return
    const call = this.#calls.of(event)
    this.#calls.handedOut(call, event)
    call.isShown = true
    const { toolCallId, toolName, arguments: input } = event
    this.#send({ type: 'tool-input-available', toolCallId, toolName, input, providerExecuted: false })
  }

  #began({ toolCallId, toolName, args }: ToolExecutionStartEvent): void {
    const call = this.#shown(this.#calls.of({ toolCallId, toolName, arguments: args }), args)
    if (call.refusal === undefined) call.state = 'running'
  }

  #updated({ toolCallId, partialResult }: ToolExecutionUpdateEvent): void {
    const call = this.#calls.get(toolCallId)
    if (call?.isShown !== true) return
    this.#send({
      type: 'tool-output-available',
      toolCallId,
      output: outputOf(partialResult.content),
      preliminary: true,
      ...this.#end(call.toolName, partialResult),
    })
  }

  /** The call has its result. */
  ended({ toolCallId, result, isError }: CallResult): void {
    const { call, asked } = this.#calls.ended(toolCallId)
    for (const each of asked) this.#closed(each)
    if (call?.isShown !== true) return
    const denial = denialOf({ ...result, isError })
    if (denial !== undefined && call.argumentsHash !== undefined) {
      this.#send({ type: 'tool-output-denied', toolCallId })
    } else if (isError)
      this.#send({ type: 'tool-output-error', toolCallId, errorText: textOf(result.content), ...this.#end(call.toolName, result) })
    else this.#send({ type: 'tool-output-available', toolCallId, output: outputOf(result.content), ...this.#end(call.toolName, result) })
  }

  /** The response ends while the run waits: calls that cannot go on look answered, or the client would never send what a person decides. */
  holdBack(): void {
    for (const { key: toolCallId, toolName, state, parent, isShown, refusal } of this.#calls.values()) {
      // Nobody has answered in time: the client still may.
      const isAsked = state === 'asked' || refusal !== undefined
      if (!isAsked && parent === undefined && isShown) {
        this.#send({ type: 'tool-output-available', toolCallId, output: waitsText, ...this.#dynamic(toolName) })
      }
    }
  }

  /** The run is over: what is still open was not run. */
  close(): void {
    for (const call of this.#calls.values()) this.#closed(call)
    this.clear()
  }

  /** What a sub-agent asked about shows no result of its own; a call of the run that has none was not run. */
  #closed(call: OpenCall): void {
    const { key: toolCallId, toolName, refusal, state, parent } = call
    if (refusal !== undefined) {
      this.#send({ type: 'tool-output-denied', toolCallId })
    } else if (parent !== undefined && state === 'decided') {
      this.#send({ type: 'tool-output-available', toolCallId, output: '', dynamic: true })
    } else if (call.isShown) this.#failed(toolCallId, toolName, notRunText)
  }

  #failed(toolCallId: string, toolName: string, errorText: string): void {
    this.#send({ type: 'tool-output-error', toolCallId, errorText, ...this.#dynamic(toolName) })
  }

  #written({ key: toolCallId, toolName, input }: OpenCall, title?: string): void {
    this.#available({ toolCallId, toolName, input }, title)
  }

  /** Shows what a call takes. One of a page's tools is not for it to run, unless it is asked to. */
  #available(call: { toolCallId: string; toolName: string; input: JsonValue }, title?: string): void {
    const whose = this.#ofPages.has(call.toolName) ? { providerExecuted: true } : { dynamic: true as const }
    this.#send({ type: 'tool-input-available', ...call, ...whose, ...(title !== undefined && { title }) })
  }

  #dynamic(toolName: string): { dynamic?: true } {
    return this.#ofPages.has(toolName) ? {} : { dynamic: true }
  }

  #end(toolName: string, { details }: ToolResult): Omit<UiToolEnd, 'toolCallId'> {
    return { ...this.#dynamic(toolName), ...(details !== undefined && details !== null && { toolMetadata: { details } }) }
  }

  /** Shows a call whose arguments are others than those shown, or that no message has shown. */
  #shown(call: OpenCall, input: JsonObject, subAgent?: string): OpenCall {
    if (!call.isShown || !isSameJson(input, call.input)) {
      call.input = input
      this.#written(call, subAgent && titleOf(subAgent, call.toolName))
    }
    call.isShown = true
    return call
  }
}
