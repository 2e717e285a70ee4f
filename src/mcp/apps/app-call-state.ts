import { parsedJson } from '../../base/json/json-value.ts'
import { parsePartialJson } from '../../base/json/partial-json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import { type Content, isMedia } from '../../contract/message/content.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { HostMessage } from './app-messages.ts'

/** State of the tool call that an app shows. The tool part of a `Chat` is one. */
export interface McpAppCallState {
  /** `done` and `failed` have a `result`; `denied`, `cancelled` and `unknown` end the call without one. */
  status: string
  /** The arguments received so far, as text. */
  inputText?: string
  /** The complete arguments. */
  input?: unknown
  result?: ToolResult
  /** The reason of a denial. */
  reason?: string
}

/** Milliseconds between two notifications of partial arguments. */
const partialMs = 100

/** Returns the messages that tell an app what is new in the state of its call. */
export type CallNotification = (call: McpAppCallState) => HostMessage[]

/** Returns the notifications for one app: partial arguments, then once the arguments, then once the result or the cancellation. */
export function callNotifications(): CallNotification {
  let hasInput = false
  let hasEnd = false
  let lastPartial = 0
  return ({ status, input, inputText = '', result, reason }) => {
    const messages: HostMessage[] = []
    if (!hasInput && isJsonObject(input)) {
      hasInput = true
      messages.push({ method: 'ui/notifications/tool-input', params: { arguments: input } })
    } else if (!hasInput && Date.now() - lastPartial >= partialMs) {
      const partial = parsePartialJson(inputText)
      lastPartial = Date.now()
      if (isJsonObject(partial)) messages.push({ method: 'ui/notifications/tool-input-partial', params: { arguments: partial } })
    }
    const isOver = /^(?:denied|cancelled|unknown)$/.test(status)
    if (hasEnd) return messages
    if (hasInput && result !== undefined && /^(?:done|failed)$/.test(status)) {
      hasEnd = true
      messages.push({ method: 'ui/notifications/tool-result', params: mcpResult(result) })
    } else if (isOver) {
      hasEnd = true
      messages.push({ method: 'ui/notifications/tool-cancelled', params: { reason: reason ?? status } })
    }
    return messages
  }
}

/**
 * Converts a tool result to a result of MCP. `details` become `structuredContent`. Stores keep no `details`: then a text that is a JSON object
 * is the structured content, because servers should send it as text too.
 */
export function mcpResult({ content, details = jsonIn(content), isError }: ToolResult): JsonObject {
  return {
    content: content.map(blockOf),
    ...(isJsonObject(details) && { structuredContent: details }),
    ...(isError === true && { isError }),
  }
}

function jsonIn([first, ...others]: readonly Content[]): JsonValue | undefined {
  if (first?.type !== 'text' || others.length > 0 || !first.text.startsWith('{')) return undefined
  const value = parsedJson(first.text)
  return isJsonObject(value) ? value : undefined
}

function blockOf(block: Content): JsonObject {
  if (block.type === 'text') return { type: 'text', text: block.text }
  const { mimeType = '', data } = isMedia(block) ? block : {}
  const type = /^(image|audio)\//.exec(mimeType)?.[1]
  return type === undefined || data === undefined ? { type: 'text', text: `[${block.type}]` } : { type, data, mimeType }
}
