import type { Attributes, Context } from '@opentelemetry/api'
import type { EventOf } from '../../src/index.ts'
import { isServiceToolName, nameOf } from './conventions.ts'
import type { Operation, Tracing } from './tracing.ts'

type Started = EventOf<'serviceToolStart'>
type Ended = EventOf<'serviceToolEnd'>

/** An active call, with the attributes for its duration. */
interface OpenCall {
  operation: Operation
  attributes: Attributes
}

/** `error.type` for a provider-executed tool that failed without a code. */
const toolError = 'tool_error'

/** Provider-executed tools: spans `execute_tool {tool}` below the model call, and their duration. */
export class ServiceToolTraces {
  readonly #tracing: Tracing
  readonly #open = new Map<string, OpenCall>()

  constructor(tracing: Tracing) {
    this.#tracing = tracing
  }

  started({ toolCallId, toolName }: Started, place: { parent: Context; at: number | undefined }): void {
    this.#end(toolCallId, { error: { type: '_OTHER' }, at: place.at })
    const isNamed = isServiceToolName(toolName)
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': isNamed ? toolName : '_OTHER',
      'gen_ai.tool.type': 'extension',
    }
    const operation = this.#tracing.begin({
      ...place,
      name: isNamed ? `execute_tool ${toolName}` : 'execute_tool',
      attributes: { ...attributes, 'gen_ai.tool.call.id': nameOf(toolCallId) },
    })
    this.#open.set(toolCallId, { operation, attributes })
  }

  /** `open` means that the result is in a later message, so the call has not failed. */
  ended({ toolCallId, outcome, error }: Ended, at: number | undefined): void {
    const failure = outcome === 'failed' ? { error: { type: nameOf(error?.code ?? toolError), message: error?.message } } : {}
    this.#end(toolCallId, { ...(outcome === 'open' && { attributes: () => ({ 'phi.tool.outcome': 'open' }) }), ...failure, at })
  }

  /** Ends open spans without an outcome. */
  cut(type: string, at?: number): void {
    for (const toolCallId of this.#open.keys()) this.#end(toolCallId, { error: { type }, at })
  }

  #end(toolCallId: string, ending: Parameters<Operation['end']>[0]): void {
    const call = this.#open.get(toolCallId)
    if (call === undefined) return
    this.#open.delete(toolCallId)
    const took = call.operation.end(ending)
    const failed = ending?.error === undefined ? {} : { 'error.type': ending.error.type }
    if (took !== undefined) this.#tracing.record('gen_ai.execute_tool.duration', took, { ...call.attributes, ...failed })
  }
}
