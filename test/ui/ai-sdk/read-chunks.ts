import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { expect } from 'vitest'
import type { AgentEvent } from '../../../src/index.ts'
import { type UiChunk, type UiEncoderOptions, uiMessageEncoder } from '../../../src/ui/ai-sdk.ts'
import { copy } from '../scenarios.ts'

/** The chunks of a response, as they arrive. */
export function encoded(events: readonly AgentEvent[], options: UiEncoderOptions = {}): UiChunk[] {
  const encoder = uiMessageEncoder(options)
  return copy([...events.flatMap((event) => encoder.encode(event)), ...encoder.end()])
}

/** What the reader of the AI SDK makes of `chunks`, on top of what it has. */
export async function read(chunks: readonly UiChunk[], message?: UIMessage): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) if (chunk.type !== 'error') controller.enqueue(chunk)
      controller.close()
    },
  })
  const errors: unknown[] = []
  let last = message
  for await (const next of readUIMessageStream({
    stream,
    ...(message !== undefined && { message }),
    onError: (error) => errors.push(error),
  }))
    last = next
  expect(errors).toEqual([])
  return last === undefined ? undefined : copy(last)
}
