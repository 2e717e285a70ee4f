import { isSameJson } from '../../base/json/copy-json.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ServiceToolContent, ToolCallContent } from '../../contract/message/content.ts'
import { callsToAnswer, textOf } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../../contract/run/call-event.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import { denialOf, notRunText, waitsText } from '../shared/answers.ts'
import { approvalIdOf } from '../shared/approval-id.ts'
import { isObject } from '../shared/client-input.ts'
import { type CallResult, type OpenCall, OpenCalls, type WaitingForPerson } from '../shared/open-calls.ts'
import { outputOf } from './parts.ts'
import { callOf, type OpenAnswer, titleOf } from './to-ui-messages.ts'
import type { UiChunk } from './ui-message.ts'

/** What a run reports of a call. */
type CallEvent = ApprovalRequestedEvent | ApprovalResolvedEvent | ToolExecutionStartEvent | ToolExecutionUpdateEvent | ToolExecutionEndEvent

/** Turns what happens to tool calls into chunks. */
export class CallChunks {
  readonly #calls = new OpenCalls()
  /** Calls of the live message whose arguments are streamed. */
  readonly #streamed = new Set<string>()
  readonly #send: (chunk: UiChunk) => void

  constructor(send: (chunk: UiChunk) => void) {
    this.#send = send
  }

  get waiting(): WaitingForPerson {
    return this.#calls.waiting
  }

  /** Goes on with the calls that `answer` has left open. */
  resume({ open, asked }: OpenAnswer): void {
    for (const { toolCallId, toolName, input } of open) {
      this.#calls.written({ id: toolCallId, name: toolName, arguments: isObject(input) ? input : {} })
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
      this.#streamed.add(toolCallId)
      this.#send({ type: 'tool-input-start', toolCallId, toolName, dynamic: true })
    }
    this.#send({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta })
  }

  /** The call is whole. `isCut`: its answer is not, so it is never run. */
  written(block: ToolCallContent, isCut: boolean): void {
    const { toolCallId, toolName, input } = callOf(block)
    this.#streamed.delete(toolCallId)
    this.#send({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true })
    if (isCut) this.#failed(toolCallId, notRunText)
    else this.#calls.written(block)
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
    for (const toolCallId of this.#streamed) this.#failed(toolCallId, notRunText)
    this.#streamed.clear()
  }

  /** What happens to a call after that. */
  take(event: CallEvent): void {
    if (event.type === 'approvalRequested') this.#asked(event)
    else if (event.type === 'approvalResolved') this.#resolved(event)
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

  #began({ toolCallId, toolName, args }: ToolExecutionStartEvent): void {
    const call = this.#shown(this.#calls.of({ toolCallId, toolName, arguments: args }), args)
    if (call.refusal === undefined) call.state = 'running'
  }

  #updated({ toolCallId, partialResult }: ToolExecutionUpdateEvent): void {
    if (this.#calls.get(toolCallId)?.isShown !== true) return
    this.#send({
      type: 'tool-output-available',
      toolCallId,
      output: outputOf(partialResult.content),
      preliminary: true,
      ...endOf(partialResult),
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
    } else if (isError) this.#send({ type: 'tool-output-error', toolCallId, errorText: textOf(result.content), ...endOf(result) })
    else this.#send({ type: 'tool-output-available', toolCallId, output: outputOf(result.content), ...endOf(result) })
  }

  /** The response ends while the run waits: calls that cannot go on look answered, or the client would never send what a person decides. */
  holdBack(): void {
    for (const { key: toolCallId, state, parent, isShown, refusal } of this.#calls.values()) {
      // Nobody has answered in time: the client still may.
      const isAsked = state === 'asked' || refusal !== undefined
      if (!isAsked && parent === undefined && isShown) {
        this.#send({ type: 'tool-output-available', toolCallId, output: waitsText, dynamic: true })
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
    const { key: toolCallId, refusal, state, parent } = call
    if (refusal !== undefined) {
      this.#send({ type: 'tool-output-denied', toolCallId })
    } else if (parent !== undefined && state === 'decided') {
      this.#send({ type: 'tool-output-available', toolCallId, output: '', dynamic: true })
    } else this.#failed(toolCallId, notRunText)
  }

  #failed(toolCallId: string, errorText: string): void {
    this.#send({ type: 'tool-output-error', toolCallId, errorText, dynamic: true })
  }

  #written({ key: toolCallId, toolName, input }: OpenCall, title?: string): void {
    this.#send({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true, ...(title !== undefined && { title }) })
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

function endOf({ details }: ToolResult): { dynamic: true; toolMetadata?: { details: NonNullable<ToolResult['details']> } } {
  return { dynamic: true, ...(details !== undefined && details !== null && { toolMetadata: { details } }) }
}
