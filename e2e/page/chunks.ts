import { anyPage } from './model-server.ts'

/** A piece of an answer of Chat Completions, as it comes over the wire. */
export function piece(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`
}

/** What a service streams, and no more: where `isOpen`, the stream does not end. */
export function streamed(text: string, isOpen = false): Response {
  const open = () => new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) })
  return new Response(isOpen ? open() : text, { headers: { ...anyPage, 'content-type': 'text/event-stream' } })
}
