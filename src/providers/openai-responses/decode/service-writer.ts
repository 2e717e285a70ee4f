import { pictureAt, pictureType } from '../../../base/received-media.ts'
import { type JsonObject, type JsonValue, jsonObjectIn, jsonObjectsIn } from '../../../contract/json.ts'
import type { ProviderState, ServiceToolContent } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/identity.ts'
import { isBase64 } from '../../../contract/message/media.ts'
import type { Message } from '../../../contract/message/message.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { runsCustomTools } from '../profile.ts'
import { type ReplayPayload, replayPayload } from '../replay-state.ts'
import type { ItemBlocks, ItemKindWriter } from './item-blocks.ts'
import type { OutputItem } from './output-items.ts'
import { idOf, isAnsweredApart, outputOf, roleOf, textIn, viewOf } from './service-items.ts'
import type { ResponsesEvent, WireItem } from './wire.ts'
import { jsonOf } from './wire-item.ts'

/** A call of this response. */
interface Call {
  open: OutputItem
  id: string
  /** The item so far. */
  item: JsonObject
  after: ReplayPayload
  /** Whether the end of the call was received. */
  isDone: boolean
  /** Whether nothing further will follow. */
  isOver: boolean
}

/** Fields of progress events that contain a call's input. */
const early: ReadonlyMap<string, 'code' | 'arguments' | 'input'> = new Map([
  ['response.code_interpreter_call_code.done', 'code'],
  ['response.mcp_call_arguments.done', 'arguments'],
  ['response.custom_tool_call_input.done', 'input'],
])

/**
 * Decodes provider-executed items.
 *
 * **Contract**
 * - Creates a `serviceTool` block at a call's first event. The call's images are separate blocks.
 * - Stores items as received, in order. Does not send unfinished items back to the provider.
 * - Matches each output to its call by `call_id`, or by order if there is no `call_id`. The call can be in an earlier message.
 * - Stores an item of an unknown kind as an opaque block and logs a warning.
 */
export class ServiceWriter implements ItemKindWriter {
  readonly #blocks: ItemBlocks
  readonly #builder: AssistantBuilder
  readonly #history: readonly Message[]
  readonly #calls: Call[] = []
  readonly #ids = new Set<string>()

  constructor(blocks: ItemBlocks, history: readonly Message[]) {
    this.#blocks = blocks
    this.#builder = blocks.builder
    this.#history = history
  }

  begin(open: OutputItem, wire: WireItem): void {
    const item = jsonOf(wire)
    if (roleOf(item) === 'call') this.#show(this.#begun(open, item), 'running')
  }

  /** Handles a progress event of an item. */
  goOn(open: OutputItem, event: ResponsesEvent, type: string): void {
    const call = this.#callOf(open)
    if (call === undefined || call.isDone) return
    const field = early.get(type)
    if (type === 'response.image_generation_call.partial_image') this.#partial(call, event.partial_image_b64)
    else if (field !== undefined && typeof event[field] === 'string') call.item = { ...call.item, [field]: event[field] }
    else if (type === 'response.shell_call_command.done') addCommand(call, event)
    else return
    if (type !== 'response.image_generation_call.partial_image') this.#show(call, 'running')
  }

  /** Completes an item. When the message is sent back, the item replaces the text that was streamed for it. */
  complete(open: OutputItem, wire: WireItem): void {
    const item = jsonOf(wire)
    const role = roleOf(item)
    this.#builder.start()
    if (role === 'call') this.#endCall(this.#begun(open, item), item)
    else if (role === 'output') this.#answer(open, item)
    else if (role === 'aside') this.#keepAside(open, item)
    else this.#builder.unknown(opaqueKey(open), textIn(item.type), this.#stateOf([item], this.#blocks.after(open)))
    for (const key of open.keys) this.#blocks.keep(key, { shownBy: open.id })
  }

  isAlike({ type }: OutputItem, item: WireItem): boolean {
    return type === item.type
  }

  /**
   * Ends the response. Fails calls without an end or output, unless the provider continues after the function results. Also fails an
   * approved call without a result. Drops the reasoning before items that cannot be sent back.
   */
  end(isWaiting: boolean): void {
    if (!isWaiting) this.#settleAllowed()
    const unended = this.#calls.filter(({ item, isOver, isDone }) => {
      const waits = item.type === 'mcp_approval_request' || isWaiting
      return !isOver && !(isDone && waits)
    })
    for (const { id, item } of unended) this.#fail({ id, ...viewOf(item) }, 'The provider did not complete the call.')
    for (const { open } of unended) this.#blocks.forgetReasoning(open)
  }

  #fail({ id, name, input }: Pick<ServiceToolContent, 'id' | 'name' | 'input'>, message: string): void {
    const error = { code: 'incomplete', message }
    this.#builder.serviceTool({ type: 'serviceTool', id, name, ...(input !== undefined && { input }), status: 'failed', error })
  }

  #settleAllowed(): void {
    const knownIds = new Set(this.#ids)
    const allowed = new Set<string>()
    for (let at = this.#history.length - 1; at >= 0; at -= 1) {
      const message = this.#history[at]
      if (message?.role === 'toolResult' && !message.isError) allowed.add(message.toolCallId)
      else if (message?.role === 'assistant') {
        for (const block of message.content) {
          if (block.type !== 'serviceTool' || knownIds.has(block.id)) continue
          knownIds.add(block.id)
          if (block.needsApproval && allowed.has(block.id)) this.#fail(block, 'The provider did not report the outcome.')
        }
      }
    }
  }

  #callOf(open: OutputItem): Call | undefined {
    return this.#calls.find((call) => call.open === open)
  }

  #begun(open: OutputItem, item: JsonObject): Call {
    const known = this.#callOf(open)
    if (known !== undefined) return known
    const givenId = idOf(item)
    const isTaken = this.#ids.has(givenId)
    if (isTaken)
      this.#builder.warn(`The provider used the id "${givenId.slice(0, 60)}" for two of its tool calls. The second one gets a new id.`)
    const id = givenId === '' || isTaken ? newId() : givenId
    this.#ids.add(id)
    const call: Call = { open, id, item, after: this.#blocks.after(open), isDone: false, isOver: false }
    this.#calls.push(call)
    return call
  }

  #endCall(call: Call, item: JsonObject): void {
    call.item = item
    if (item.status === 'incomplete') return
    call.isDone = true
    if (item.type === 'custom_tool_call' && !runsCustomTools(this.#blocks.model)) {
      this.#endUnrun(call, item)
      return
    }
    const isFailed = viewOf(item).error !== undefined
    const waits = item.type === 'mcp_approval_request' || (isAnsweredApart(item) && !isFailed)
    if (!waits) call.isOver = true
    this.#show(call, waits ? 'running' : isFailed ? 'failed' : 'done')
    if (item.type === 'code_interpreter_call') this.#codePictures(call, item)
  }

  /** Adds an error result to an unsupported custom tool call, because the API rejects calls without a result. */
  #endUnrun(call: Call, item: JsonObject): void {
    const name = textIn(item.name).slice(0, 60)
    const message = `The custom tool "${name}" has no handler.`
    this.#builder.warn(`The model called the custom tool "${name}", which has no handler. The model receives an error.`)
    call.isOver = true
    const output = { type: 'custom_tool_call_output', call_id: textIn(item.call_id), output: message }
    this.#show(call, 'failed', {
      error: { code: 'unavailable', message },
      providerState: this.#stateOf([item, output], call.after),
    })
  }

  #show(call: Call, status: ServiceToolContent['status'], more: Partial<ServiceToolContent> = {}): void {
    const block: ServiceToolContent = { type: 'serviceTool', id: call.id, ...viewOf(call.item), status, ...more }
    if (call.isDone) block.providerState = more.providerState ?? this.#stateOfCall(call)
    this.#builder.serviceTool(block)
  }

  /** Stores the state of an image generation on the image block, which contains the bytes. */
  #stateOfCall(call: Call): ProviderState {
    const { item, open, after, id } = call
    const result = item.type === 'image_generation_call' ? textIn(item.result) : ''
    if (result !== '' && !isBase64(result))
      this.#builder.warn('The provider sent a generated image with invalid bytes. The image was dropped.')
    if (result === '' || !isBase64(result)) return this.#stateOf([item], after)
    this.#picture(`picture ${open.key}`, result, call, this.#stateOf([{ ...item, result: null }], after))
    return this.#blocks.state({ shownBy: id })
  }

  /** Updates a partial image. Only the final image is validated. */
  #partial(call: Call, data: unknown): void {
    if (typeof data === 'string' && isBase64(data)) this.#picture(`picture ${call.open.key}`, data, call)
  }

  #picture(key: string, data: unknown, { item }: Call, providerState?: ProviderState): void {
    if (typeof data !== 'string' || data === '') return
    const mimeType = pictureType(`image/${textIn(item.output_format) || 'png'}`, data)
    this.#builder.whole(key, { type: 'image', mimeType, data, ...(providerState && { providerState }) })
  }

  /** Emits images from executed code, which are sent back with the call. */
  #codePictures({ open, id }: Call, item: JsonObject): void {
    jsonObjectsIn(item.outputs).forEach(({ type, url }, index) => {
      const source = type === 'image' ? pictureAt(url) : undefined
      if (source !== undefined) {
        this.#builder.whole(`picture ${open.key} ${index}`, {
          type: 'image',
          ...source,
          providerState: this.#blocks.state({ shownBy: id }),
        })
      }
    })
  }

  #answer(open: OutputItem, item: JsonObject): void {
    const answered = outputOf(item)
    const callId = textIn(item.call_id)
    const call = this.#calls.find(
      (each) => each.item.type === answered?.of && each.isDone && !each.isOver && (callId === '' || textIn(each.item.call_id) === callId),
    )
    const output = answered?.shown === undefined ? {} : { output: answered.shown }
    if (call === undefined) {
      this.#answerEarlier(open, item, answered?.of ?? '', output)
      return
    }
    if (item.status === 'incomplete') return
    call.isOver = true
    const isNext = call.open.position === open.position - 1
    const items = isNext ? [call.item, item] : [call.item]
    const isFailed = item.status === 'failed'
    this.#show(call, isFailed ? 'failed' : 'done', {
      ...output,
      ...(isFailed && { error: { code: 'failed' } }),
      providerState: this.#stateOf(items, call.after),
    })
    if (!isNext) this.#keepAside(open, item)
  }

  /** Adds the output to a call in an earlier message. */
  #answerEarlier(open: OutputItem, item: JsonObject, type: string, output: { output?: JsonValue }): void {
    const callId = textIn(item.call_id)
    const blocks = this.#history.flatMap((message) => (message.role === 'assistant' ? message.content : []))
    const begun = blocks.findLast(
      (block) =>
        block.type === 'serviceTool' &&
        replayPayload(block.providerState).items?.some((each) => each.type === type && callId !== '' && each.call_id === callId),
    )
    const providerState = this.#stateOf([item], this.#blocks.after(open))
    if (begun?.type !== 'serviceTool') {
      this.#builder.unknown(opaqueKey(open), textIn(item.type), providerState)
      return
    }
    const { id, name, input } = begun
    this.#builder.serviceTool({
      type: 'serviceTool',
      id,
      name,
      ...(input !== undefined && { input }),
      status: 'done',
      ...output,
      providerState,
    })
  }

  /** Returns the state of items that are sent back after their reasoning. */
  #stateOf(items: JsonObject[], after: ReplayPayload): ProviderState {
    return this.#blocks.state({ items, ...after })
  }

  #keepAside(open: OutputItem, item: JsonObject): void {
    const kind = textIn(item.type)
    this.#builder.whole(opaqueKey(open), { type: 'opaque', kind, providerState: this.#stateOf([item], this.#blocks.after(open)) })
    const fault = kind === 'mcp_list_tools' ? viewOf(item).error : undefined
    if (fault !== undefined) {
      const label = textIn(item.server_label).slice(0, 60)
      this.#builder.warn(`The provider could not list the tools of MCP server "${label}": ${(fault.message ?? fault.code).slice(0, 300)}`)
    }
  }
}

function opaqueKey({ key }: OutputItem): string {
  return `item ${key}`
}

function addCommand(call: Call, { command_index: index, command }: ResponsesEvent): void {
  const { action } = call.item
  if (typeof command !== 'string') return
  const known = jsonObjectIn(action)
  const commands = Array.isArray(known.commands) ? [...known.commands] : []
  commands.splice(typeof index === 'number' ? index : commands.length, 1, command)
  call.item = { ...call.item, action: { ...known, commands } }
}
