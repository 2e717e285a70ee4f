import type { UiChunk } from './ui-message.ts'

/** The headers that the stream of `useChat` has. */
export const uiMessageStreamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-vercel-ai-ui-message-stream': 'v1',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
}

const needsSix = 'This needs AI SDK 6 or 7.'
const needsSeven = 'This needs AI SDK 7.'
const needs: { readonly [type in UiChunk['type']]?: string } = {
  'tool-approval-request': needsSix,
  'tool-output-denied': needsSix,
  'reset-step': needsSeven,
  'steering-message': needsSeven,
}

/**
 * One chunk as a server-sent event. A chunk that older versions of the AI SDK do not know says so in `note`: they refuse it, and show it in their error.
 * Throws what `JSON.stringify` throws.
 */
export function uiMessageSse(chunk: UiChunk): string {
  const isInterrupted = chunk.type === 'finish' && chunk.finishReason === 'interrupted'
  const note = isInterrupted ? needsSeven : needs[chunk.type]
  return `data: ${JSON.stringify(note === undefined ? chunk : { ...chunk, note })}\n\n`
}

/** What the stream ends with. */
export const uiMessageStreamEnd = 'data: [DONE]\n\n'
