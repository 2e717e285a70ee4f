import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import { bytesOfBase64 } from '../../../src/base/base64.ts'
import { isObject } from '../../../src/contract/json.ts'
import { isMedia } from '../../../src/contract/message/content.ts'
import { isTextType } from '../../../src/contract/message/media.ts'
import { shownContent } from '../../../src/contract/message/message.ts'
import type { Content, RunResult, ToolResult } from '../../../src/index.ts'

/** Converts a tool result to a call result: content for a model, without `details`. */
export function resultOf({ content, isError }: Pick<ToolResult, 'content' | 'isError'>): CallToolResult {
  return { content: content.flatMap(blockOf), ...(isError === true && { isError }) }
}

/** Converts a run result to a call result: the agent's last response, or its failure. */
export function answerOf(result: RunResult): CallToolResult {
  const { status, messages, output, error, limit, rejection } = result
  const last = messages.findLast((message) => message.role === 'assistant')
  const blocks = (last === undefined ? [] : shownContent(last)).flatMap(blockOf)
  if (status === 'completed') {
    return {
      content: blocks.length > 0 ? blocks : [{ type: 'text', text: '(no answer)' }],
      ...(isObject(output) && { structuredContent: { ...output } }),
    }
  }
  const why = error?.message ?? rejection ?? limit?.reason ?? ''
  return failure(`The agent has no response: its run ended with status ${status}${why === '' ? '.' : `: ${why}`}`, blocks)
}

/** Returns the result of a failed call. */
export function failure(text: string, blocks: ContentBlock[] = []): CallToolResult {
  return { content: [...blocks, { type: 'text', text }], isError: true }
}

function blockOf(block: Content): ContentBlock[] {
  if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }]
  if (!isMedia(block)) return []
  const { data, url, mimeType } = block
  const name = block.type === 'file' ? block.name : undefined
  if (data === undefined) return url === undefined ? [] : [{ type: 'resource_link', uri: url, name: name ?? url, mimeType }]
  if (block.type === 'image') return [{ type: 'image', data, mimeType }]
  if (mimeType.startsWith('audio/')) return [{ type: 'audio', data, mimeType }]
  const uri = `file:///${encodeURIComponent(name ?? 'file')}`
  return [{ type: 'resource', resource: isTextType(mimeType) ? { uri, mimeType, text: decoded(data) } : { uri, mimeType, blob: data } }]
}

function decoded(base64: string): string {
  return new TextDecoder().decode(bytesOfBase64(base64))
}
