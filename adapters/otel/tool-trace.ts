import type { Attributes, Context } from '@opentelemetry/api'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from '../../src/contract/run/call-event.ts'
import { isToolName } from '../../src/contract/tool/tool-result.ts'
import type { TraceContext } from '../../src/loop.ts'
import { captured, capturedJson, capturedResult } from './content.ts'
import { errorType, nameOf, stopType } from './conventions.ts'
import type { Operation, Tracing } from './tracing.ts'

/** Returns whether a call was stopped. */
interface Stop {
  readonly aborted: boolean
  readonly reason: unknown
}

/** `error.type` for a tool that failed without throwing, or without a known error. */
const toolError = 'tool_error'

/** Traces one tool call: the span `execute_tool {tool}` and its duration. */
export class ToolTrace {
  readonly #tracing: Tracing
  readonly #operation: Operation
  readonly #attributes: Attributes
  #stop: Stop | undefined
  #thrown: string | undefined
  /** Whether the tool has run, which means that the name belongs to a real tool. */
  #hasRun = false

  constructor(tracing: Tracing, event: ToolExecutionStartEvent, place: { parent: Context; at?: number | undefined }) {
    const { toolCallId, toolName, args } = event
    const isNamed = isToolName(toolName)
    // Other names may be arbitrary model output.
    const shown = isNamed || tracing.capturesContent ? nameOf(toolName) : '_OTHER'
    this.#tracing = tracing
    this.#attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': shown, 'gen_ai.tool.type': 'function' }
    this.#operation = tracing.begin({
      ...place,
      name: isNamed ? `execute_tool ${toolName}` : 'execute_tool',
      attributes: { ...this.#attributes, 'gen_ai.tool.call.id': nameOf(toolCallId) },
    })
    if (tracing.capturesContent && this.#operation.isRecording) this.#operation.set({ 'gen_ai.tool.call.arguments': capturedJson(args) })
  }

  get context(): Context {
    return this.#operation.context
  }

  /** Returns the trace context for the tool to propagate. */
  get trace(): TraceContext | undefined {
    return this.#operation.trace
  }

  runs({ stop, description }: { stop: Stop; description: string }): void {
    this.#hasRun = true
    this.#stop = stop
    this.#operation.set({ 'gen_ai.tool.description': captured(description) })
  }

  /** The tool itself failed. The call's outcome follows. */
  threw(error: unknown): void {
    this.#thrown = errorType(error)
  }

  ended({ isError, result }: Pick<ToolExecutionEndEvent, 'isError' | 'result'>, at?: number): void {
    const { capturesContent } = this.#tracing
    if (isError) this.#end({ error: { type: this.#failure, message: capturesContent ? capturedResult(result.content) : undefined }, at })
    else this.#end({ attributes: () => (capturesContent ? { 'gen_ai.tool.call.result': capturedResult(result.content) } : {}), at })
  }

  /** Ends without a reported outcome. */
  cut(type: string, at?: number): void {
    this.#end({ error: { type }, at })
  }

  get #failure(): string {
    return this.#stop?.aborted === true ? stopType(this.#stop.reason) : (this.#thrown ?? toolError)
  }

  #end(ending: Parameters<Operation['end']>[0]): void {
    const took = this.#operation.end(ending)
    if (took === undefined) return
    // Names that models invent would create an unlimited number of series.
    const name = this.#hasRun || ending?.error === undefined ? {} : { 'gen_ai.tool.name': '_OTHER' }
    const failed = ending?.error === undefined ? {} : { 'error.type': ending.error.type }
    this.#tracing.record('gen_ai.execute_tool.duration', took, { ...this.#attributes, ...name, ...failed })
  }
}
