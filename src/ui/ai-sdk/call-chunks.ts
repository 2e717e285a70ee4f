import { isSameJson } from '../../base/json/json-value.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { ToolCallContent } from '../../contract/message/content.ts'
import { textOf } from '../../contract/message/message.ts'
import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  ClientCallRequestedEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../../contract/run/call-event.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import { denialOf, notRunText, waitsText } from '../shared/answers.ts'
import { approvalIdOf } from '../shared/client-input.ts'
import { type CallResult, type EndedCall, type OpenCall, OpenCalls, type WrittenCall } from '../shared/open-calls.ts'
import { outputOf } from './parts.ts'
import { callOf, type OpenAnswer, titleOf } from './to-ui-messages.ts'
import type { UiChunk, UiToolEnd } from './ui-message.ts'

/** Encodes tool calls as chunks. */
export class CallChunks extends OpenCalls {
  readonly #send: (chunk: UiChunk) => void
  /**
   * Names of client tools. `useChat` uses a separate part type for each and runs a call once its input is available, so the input is sent
   * only on request.
   */
  #ofPages: ReadonlySet<string> = new Set()

  constructor(send: (chunk: UiChunk) => void) {
    super()
    this.#send = send
  }

  /** Sets the client tools. */
  runByPages(names: readonly string[]): void {
    this.#ofPages = new Set(names)
  }

  /** Restores a response's open calls. */
  resume({ open, asked }: OpenAnswer): void {
    for (const { toolCallId, toolName, input } of open) {
      this.written({ id: toolCallId, name: toolName, arguments: isJsonObject(input) ? input : {} })
    }
    for (const pending of asked) this.left(pending)
  }

  override written(call: WrittenCall): void {
    super.written(call, !this.#ofPages.has(call.name))
  }

  /** Starts streaming a call's arguments. */
  begun(toolCallId: string, toolName: string): void {
    this.#send({ type: 'tool-input-start', toolCallId, toolName, ...this.#dynamic(toolName) })
  }

  /** Sends the complete call. `isUnfinished`: the message is incomplete, so the call never runs. */
  show(block: ToolCallContent, isUnfinished: boolean): void {
    const { toolCallId, toolName, input } = callOf(block)
    if (isUnfinished || !this.#ofPages.has(toolName)) this.#available({ toolCallId, toolName, input })
    if (isUnfinished) this.notRun(toolCallId, toolName)
  }

  notRun(toolCallId: string, toolName: string): void {
    this.#send({ type: 'tool-output-error', toolCallId, errorText: notRunText, ...this.#dynamic(toolName) })
  }

  protected override showAsked(event: ApprovalRequestedEvent, call: OpenCall): void {
    this.#shown(call, event.args, event.subAgent?.toolName)
    this.#send({ type: 'tool-approval-request', approvalId: approvalIdOf(event), toolCallId: call.key })
  }

  /**
   * Ends an approval request by sending the call again, because AI SDK 6 has no chunk for a decision. Sends a denial only with the call's
   * result, because a run may request a timed-out approval again.
   */
  protected override showDecided({ approved }: ApprovalResolvedEvent, call: OpenCall | undefined): void {
    if (call !== undefined && approved) this.#written(call)
  }

  /** Sends the call's input, so that the client runs the call. */
  protected override showHandedOut({ toolCallId, toolName, args: input }: ClientCallRequestedEvent, call: OpenCall | undefined): void {
    if (call === undefined) return
    call.isShown = true
    this.#send({ type: 'tool-input-available', toolCallId, toolName, input, providerExecuted: false })
  }

  protected override showRunning({ args }: ToolExecutionStartEvent, call: OpenCall): void {
    this.#shown(call, args)
  }

  protected override showUpdate({ toolCallId, partialResult }: ToolExecutionUpdateEvent, call: OpenCall | undefined): void {
    if (call?.isShown !== true) return
    const output = outputOf(partialResult.content)
    this.#send({ type: 'tool-output-available', toolCallId, output, preliminary: true, ...this.#end(call.toolName, partialResult) })
  }

  protected override showResult({ toolCallId, result, isError }: CallResult, { call, asked }: EndedCall): void {
    for (const each of asked) this.#closed(each)
    if (call?.isShown !== true) return
    const denial = denialOf({ ...result, isError })
    const end = this.#end(call.toolName, result)
    if (denial !== undefined && call.argumentsHash !== undefined) this.#send({ type: 'tool-output-denied', toolCallId })
    else if (isError) this.#send({ type: 'tool-output-error', toolCallId, errorText: textOf(result.content), ...end })
    else this.#send({ type: 'tool-output-available', toolCallId, output: outputOf(result.content), ...end })
  }

  /**
   * Ends the stream of a waiting run. Marks calls that cannot continue as finished, because `useChat` sends decisions only if no call is
   * open.
   */
  holdBack(): void {
    for (const { key: toolCallId, toolName, state, parent, isShown, refusal } of this.values()) {
      // A refusal means that the request timed out, but the client can still decide.
      const isAsked = state === 'asked' || refusal !== undefined
      if (!isAsked && parent === undefined && isShown) {
        this.#send({ type: 'tool-output-available', toolCallId, output: waitsText, ...this.#dynamic(toolName) })
      }
    }
  }

  /** Ends the run. Marks open calls as not run. */
  close(): void {
    for (const call of this.values()) this.#closed(call)
    this.clear()
  }

  /** Closes a call without a result. A decided sub-agent call gets an empty output. Other calls did not run. */
  #closed({ key: toolCallId, toolName, refusal, state, parent, isShown }: OpenCall): void {
    if (refusal !== undefined) this.#send({ type: 'tool-output-denied', toolCallId })
    else if (parent !== undefined && state === 'decided')
      this.#send({ type: 'tool-output-available', toolCallId, output: '', dynamic: true })
    else if (isShown) this.notRun(toolCallId, toolName)
  }

  #written({ key: toolCallId, toolName, input }: OpenCall, title?: string): void {
    this.#available({ toolCallId, toolName, input }, title)
  }

  /** Sends a call's arguments. Marks client tools as `providerExecuted`, so that the client does not run them before a request. */
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

  /** Sends a call that was not sent before, or was sent with other arguments. */
  #shown(call: OpenCall, input: JsonObject, subAgent?: string): void {
    if (!call.isShown || !isSameJson(input, call.input)) {
      call.input = input
      this.#written(call, subAgent && titleOf(subAgent, call.toolName))
    }
    call.isShown = true
  }
}
