import type { UiChunk } from './ui-message.ts'

/** The headers that the stream of `useChat` has. */
export const uiMessageStreamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-vercel-ai-ui-message-stream': 'v1',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
}

/** One chunk as a server-sent event. Throws what `JSON.stringify` throws. */
export function uiMessageSse(chunk: UiChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** What the stream ends with. */
export const uiMessageStreamEnd = 'data: [DONE]\n\n'
