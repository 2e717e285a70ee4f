import { errorText, ToolError, type ToolErrorCode } from '../../contract/errors.ts'
import { type Content, content } from '../../contract/message/content.ts'
import { newId } from '../../contract/message/ids.ts'
import { type MessageEnvelope, now, type ToolResultMessage, text } from '../../contract/message/message.ts'
import { faultIn, toldCaller } from '../../contract/shape/fault.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'

/** A tool result with its envelope, as it stands in the history. */
export type ToolResultEntry = ToolResultMessage & MessageEnvelope

/** A result that tells the model what went wrong. */
export function errorResult(message: string): ToolResult {
  return { content: [text(message)], isError: true }
}

/** How the specification prints an error of a tool. Source: docs/concepts/errors.md */
const prefixes: Partial<Record<ToolErrorCode, string>> = {
  invalidArguments: 'Invalid arguments',
  notFound: 'Tool not found',
  cancelled: 'Cancelled',
}

/** What the model is told of what a tool threw. A `ToolError` begins with the words of its code, unless it says them, or what was not found. */
export function toolErrorText(error: unknown): string {
  const prefix = ToolError.isInstance(error) ? prefixes[error.code] : undefined
  if (prefix === undefined || !ToolError.isInstance(error)) return errorText(error)
  const { message, code, cause } = error
  if (message === '') return prefix
  const isSaid = message.startsWith(prefix) || (code === 'notFound' && (cause !== undefined || /not found/i.test(message)))
  return isSaid ? message : `${prefix}: ${message}`
}

/**
 * What a tool returned or reported, as a result that can be stored and sent.
 *
 * **Contract**
 * - A string becomes text; any other JSON value becomes its JSON as text, and `details`. `details` become what JSON makes of them. Everything is copied, and what does not belong to a `ToolResult` is left
 *   out: a tool that keeps its result cannot change an event or the history.
 * - Never throws: a broken shape, or a value that JSON refuses, becomes an error result that says so.
 */
export function toToolResult(toolName: string, returned: unknown): ToolResult {
  if (typeof returned === 'string') return { content: [text(returned)] }
  try {
    return (
      plainResult(returned) ??
      jsonResult(returned) ??
      errorResult(`Tool ${toolName} returned ${describe(returned)} instead of a string or { content: [...] }.`)
    )
  } catch (error) {
    if (error instanceof BlockFault) return errorResult(`Tool ${toolName} returned a result that cannot be sent: ${error.message}.`)
    return errorResult(`Tool ${toolName} returned a value that is not JSON: ${errorText(error)}`)
  }
}

/** What is wrong with a block of a result. */
class BlockFault extends Error {}

/** The message that answers a call. */
export function toolResultEntry(
  call: { id: string; name: string },
  result: ToolResult,
  turnId: { loopId: string; turnIndex: number },
): ToolResultEntry {
  const entry: ToolResultEntry = {
    role: 'toolResult',
    id: newId(),
    turnId,
    toolCallId: call.id,
    toolName: call.name,
    content: result.content,
    isError: result.isError === true,
    timestamp: now(),
  }
  if (result.childLoopId !== undefined) entry.childLoopId = result.childLoopId
  if (result.offers !== undefined) entry.offers = result.offers
  if (result.endRun === true) entry.endRun = true
  return entry
}

/** A copy of a `ToolResult`; `undefined` when `value` is none. */
function plainResult(value: unknown): ToolResult | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { content: given, details, isError, childLoopId, endRun, offers }: Partial<Record<keyof ToolResult, unknown>> = value
  if (!Array.isArray(given)) return undefined
  const blocks: Content[] = []
  // Not `map`: it passes over holes.
  for (const [index, item] of given.entries()) blocks.push(plainBlock(item, `content[${index}]`))
  const result: ToolResult = { content: blocks }
  if (details !== undefined) result.details = JSON.parse(JSON.stringify(details))
  if (isError === true) result.isError = true
  if (endRun === true) result.endRun = true
  if (Array.isArray(offers)) result.offers = offers.filter((name) => typeof name === 'string')
  if (typeof childLoopId === 'string') result.childLoopId = childLoopId
  return result
}

/** A JSON value as text and details; `undefined` for a value of another kind, and for a `ToolResult` that is broken. */
function jsonResult(value: unknown): ToolResult | undefined {
  if (!isJson(value)) return undefined
  const json: string | undefined = JSON.stringify(value)
  return json === undefined ? undefined : { content: [text(json)], details: JSON.parse(json) }
}

/** At its top: further down, what JSON makes of a value is taken. Of a map it would make `{}`. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object') return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  if (value === null || Array.isArray(value)) return true
  if ('content' in value && Array.isArray(value.content)) return false
  return Object.prototype.toString.call(value) === '[object Object]' || ('toJSON' in value && typeof value.toJSON === 'function')
}

/** A copy of a block without what does not belong to it. Throws `BlockFault` for what no tool may return. */
function plainBlock(value: unknown, place: string): Content {
  const type: unknown = Object(value).type
  const names = type === 'text' || type === 'image' || type === 'file' ? fieldsOfBlock(type) : undefined
  if (names === undefined) throw new BlockFault(`${place} is no block of text, image or file`)
  const copy: Record<string, unknown> = {}
  for (const name of names) {
    const part: unknown = Object(value)[name]
    // Bytes may be megabytes: only what can change is copied.
    if (part !== undefined) copy[name] = typeof part === 'string' ? part : JSON.parse(JSON.stringify(part))
  }
  const fault = faultIn(content, copy, 'given')
  if (fault !== undefined) throw new BlockFault(toldCaller(fault, place).replace(/\.$/, ''))
  return copy as unknown as Content // just checked
}

/** The fields of a kind of block, but for what a service attaches to it. */
function fieldsOfBlock(type: string): readonly string[] {
  const form = content.form.of === 'tagged' ? content.form.variants.get(type)?.form : undefined
  return form?.of === 'object' ? Object.keys(form.fields).filter((name) => name !== 'providerState') : []
}

function describe(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}
