import { createSseDecoder, type SseDecoderOptions } from '../../src/stream/sse.ts'

/** A decoded frame; `event` is `undefined` when the stream named none. */
export interface Frame {
  event: string | undefined
  data: string
}

/** Decodes `chunks`; with `end` as a stream that ended by itself, without it as one that was cut off. */
export function decode(chunks: readonly Uint8Array[], end: 'end' | 'cut', options?: SseDecoderOptions): Frame[] {
  const frames: Frame[] = []
  const decoder = createSseDecoder((data, event) => frames.push({ event, data }), options)
  for (const chunk of chunks) decoder.feed(chunk)
  if (end === 'end') decoder.end()
  return frames
}

/** UTF-8 bytes. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** `bytes` cut at each of `positions`, taken modulo the length. */
export function cut(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const sorted = positions.map((position) => position % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length))
}
