import { copyJson } from '../../base/json/json-value.ts'
import { escapeControls } from '../../base/text/characters.ts'
import { ConfigError } from '../../contract/errors.ts'
import { isJsonObject, type JsonValue } from '../../contract/json.ts'
import type { Content } from '../../contract/message/content.ts'
import { clientBlock } from '../../contract/message/history.ts'
import { text } from '../../contract/message/message.ts'
import { jsonFault } from '../../contract/shape/json-fault.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ClientCallAnswer, ClientCallRequest } from '../../types/run/question.ts'

/** Maximum content blocks of a result. */
const maxBlocks = 20

/**
 * Converts a client tool call's untrusted output to a tool result.
 *
 * **Contract**
 * - Accepts a string, any other JSON (as text and as `details`), or text, image and file blocks that are valid as user input. A client
 *   cannot end the run, offer tools or set loop ids. Escapes characters that hide or reorder text.
 * - Throws `ConfigError` `invalidMessage` for other output, or output that exceeds the request's limit.
 */
export function answeredResult(given: ClientCallAnswer, { toolCallId, maxResultChars }: ClientCallRequest): ToolResult {
  const { output, error }: { output?: unknown; error?: unknown } = Object(given)
  const isOne = (output === undefined) !== (error === undefined)
  if (!isOne || (error !== undefined && typeof error !== 'string'))
    refuse(`Invalid result for call "${toolCallId}": pass { output } with a JSON value, or { error } with a string.`)
  const value = checked(error === undefined ? output : error, toolCallId, maxResultChars)
  if (error !== undefined) return { content: [textOf(String(error))], isError: true }
  if (typeof value === 'string') return { content: [textOf(value)] }
  const blocks = blocksIn(value)
  if (blocks !== undefined) return { content: blocks.map((block, at) => blockOf(block, `output.content[${at}]`)) }
  return { content: [textOf(JSON.stringify(value))], details: value }
}

/** Returns a copy of a JSON value. Throws if it exceeds the length limit. */
function checked(value: unknown, toolCallId: string, maxChars: number): JsonValue {
  const fault = jsonFault(value, 'output')
  if (fault !== undefined) refuse(`Invalid result for call "${toolCallId}": ${fault}.`)
  const json = JSON.stringify(value)
  if (json.length > maxChars)
    refuse(
      `The result of call "${toolCallId}" is too long: ${json.length} characters of JSON; the tool's maxResultChars allows ${maxChars}.`,
    )
  return copyJson(value as JsonValue) // just checked
}

/** Returns the content blocks of an output, if it has any. */
function blocksIn(value: JsonValue): readonly JsonValue[] | undefined {
  if (!isJsonObject(value)) return undefined
  const { content } = value
  if (!Array.isArray(content) || content.length === 0 || !content.every((block) => typeof Object(block).type === 'string')) return undefined
  if (content.length > maxBlocks) refuse(`output.content has ${content.length} blocks, but at most ${maxBlocks} are allowed.`)
  return content
}

function blockOf(value: JsonValue, path: string): Content {
  const block = clientBlock(value, path)
  return block.type === 'text' ? textOf(block.text) : block
}

function textOf(words: string): Content {
  return text(escapeControls(words))
}

function refuse(message: string): never {
  throw new ConfigError('invalidMessage', message)
}
