import { noOutput, shownOutput, unshownText } from '../../base/json/tool-output.ts'
import { errorText, ToolError, type ToolErrorCode } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type Content, content } from '../../contract/message/content.ts'
import { newId } from '../../contract/message/identity.ts'
import { type MessageEnvelope, now, type ToolResultMessage, text } from '../../contract/message/message.ts'
import { describeGivenFault, faultIn } from '../../contract/shape/fault.ts'
import type { EditedArguments } from '../../contract/tool/edited-arguments.ts'
import { type ToolResult, toolResultFields } from '../../contract/tool/tool-result.ts'

/** A tool result message, as stored in the history. */
export type ToolResultEntry = ToolResultMessage & MessageEnvelope

/** Creates an error result for the model. */
export function errorResult(message: string): ToolResult {
  return { content: [text(message)], isError: true }
}

/** Prefixes of tool errors in the specification. Source: docs/reference/errors.md */
const prefixes: Partial<Record<ToolErrorCode, string>> = {
  invalidArguments: 'Invalid arguments',
  notFound: 'Tool not found',
  cancelled: 'Cancelled',
}

/** Formats a tool's error for the model. Adds the error code's prefix to a `ToolError` message, unless already present. */
export function toolErrorText(error: unknown): string {
  const prefix = ToolError.isInstance(error) ? prefixes[error.code] : undefined
  if (prefix === undefined || !ToolError.isInstance(error)) return errorText(error)
  const { message, code, cause } = error
  if (message === '') return prefix
  const isSelfExplanatory = message.startsWith(prefix) || (code === 'notFound' && (cause !== undefined || /not found/i.test(message)))
  return isSelfExplanatory ? message : `${prefix}: ${message}`
}

/** Called with warnings about results that are only partly usable. */
export interface ResultWarnings {
  warn(event: string, fields: JsonObject): void
  withoutSecrets?(text: string): string
}

/**
 * Converts a tool's return value or report to a result that can be stored and sent.
 *
 * **Contract**
 * - A string becomes text, `undefined` becomes `(no output)`, and other JSON becomes text and `details`. An object with a string `content`
 *   counts as a `ToolResult` if it has only `ToolResult` keys. Copies everything and drops unknown keys.
 * - Never throws, and never returns an error result for an unusable value, because the tool has run and the model would retry it. Instead,
 *   returns a text with the reason and calls `warnings`.
 */
export function toToolResult(toolName: string, returned: unknown, warnings?: ResultWarnings): ToolResult {
  if (typeof returned === 'string') return { content: [text(returned)] }
  if (returned === undefined) return { content: [text(noOutput)] }
  const warn = (message: string, hint: string) => warnings?.warn('toolResult', { toolName, message, hint })
  const unshown = (reason: string): ToolResult => {
    const why = warnings?.withoutSecrets?.(reason) ?? reason
    warn(
      `Tool ${JSON.stringify(toolName)} returned a result that cannot be shown: ${why.replace(/[.!?]?$/, '.')}`,
      'Return text, JSON, or { content }.',
    )
    return { content: [text(unshownText(why))] }
  }
  try {
    const plain = plainResult(returned, (why) => {
      warn(
        `The details of a ${JSON.stringify(toolName)} result were dropped: ${why.replace(/[.!?]?$/, '.')}`,
        'Return details as plain JSON.',
      )
    })
    if (plain !== undefined) return plain
  } catch (error) {
    const isFailed = typeof returned === 'object' && returned !== null && flagOf(returned, 'isError')
    const isEnd = typeof returned === 'object' && returned !== null && flagOf(returned, 'endRun')
    return { ...unshown(errorText(error)), ...(isFailed && { isError: true }), ...(isEnd && { endRun: true }) }
  }
  const shown = shownOutput(returned)
  if ('why' in shown) return unshown(shown.why)
  const ignored = flags.filter((name) => flagOf(shown.value, name))
  if (ignored.length > 0) {
    const message = `${ignored.join(' and ')} in a ${JSON.stringify(toolName)} result has no effect: the value is plain JSON, not a ToolResult.`
    warn(message, 'Return { content, details, … } with only the keys of ToolResult.')
  }
  return { content: [text(shown.json)], details: shown.value }
}

const flags = ['endRun', 'isError'] as const

function flagOf(value: unknown, name: (typeof flags)[number]): boolean {
  try {
    return Object(value)[name] === true
  } catch {
    return false
  }
}

/** Thrown for an invalid content block in a result. */
class BlockFault extends Error {}

/** Creates the tool result message of a call. */
export function toolResultEntry(
  call: { id: string; name: string; edited?: EditedArguments },
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
  if (call.edited !== undefined) entry.edited = call.edited
  return entry
}

/** Returns a copy of `value` if it is a `ToolResult`, otherwise `undefined`. */
function plainResult(value: unknown, withoutDetails: (why: string) => void): ToolResult | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { content: given }: { content?: unknown } = value
  const isText = typeof given === 'string' && Object.keys(value).every((name) => Object.hasOwn(toolResultFields, name))
  if (!isText && !Array.isArray(given)) return undefined
  const { details, isError, childLoopId, endRun, offers }: Partial<Record<keyof ToolResult, unknown>> = value
  const blocks: Content[] = isText ? [text(given)] : []
  // Use a loop, because `map` skips array holes.
  if (!isText && Array.isArray(given)) for (const [index, item] of given.entries()) blocks.push(plainBlock(item, `content[${index}]`))
  const result: ToolResult = { content: blocks }
  const shown = details === undefined ? undefined : shownOutput(details)
  if (shown !== undefined && 'why' in shown) withoutDetails(shown.why)
  else if (shown !== undefined) result.details = shown.value
  if (isError === true) result.isError = true
  if (endRun === true) result.endRun = true
  if (Array.isArray(offers)) result.offers = offers.filter((name) => typeof name === 'string')
  if (typeof childLoopId === 'string') result.childLoopId = childLoopId
  return result
}

/** Returns a copy of a block without unknown fields. Throws `BlockFault` for blocks that tools may not return. */
function plainBlock(value: unknown, place: string): Content {
  const type: unknown = Object(value).type
  const names = type === 'text' || type === 'image' || type === 'file' ? fieldsOfBlock(type) : undefined
  if (names === undefined) throw new BlockFault(`${place} is not a text, image or file block`)
  const copy: Record<string, unknown> = {}
  for (const name of names) {
    const part: unknown = Object(value)[name]
    // Bytes may be megabytes, so only mutable parts are copied.
    if (part !== undefined) copy[name] = typeof part === 'string' ? part : JSON.parse(JSON.stringify(part))
  }
  const fault = faultIn(content, copy, 'given')
  if (fault !== undefined) throw new BlockFault(describeGivenFault(fault, place).replace(/\.$/, ''))
  return copy as unknown as Content // just checked
}

/** Returns the field names of a block type, without provider state. */
function fieldsOfBlock(type: string): readonly string[] {
  const form = content.form.of === 'tagged' ? content.form.variants.get(type)?.form : undefined
  return form?.of === 'object' ? Object.keys(form.fields).filter((name) => name !== 'providerState') : []
}
