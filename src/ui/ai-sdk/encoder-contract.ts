import { aNumberFromZero, options as optionsOf } from '../../contract/shape/shape.ts'
import { type RunEncoder, type RunEncoderOptions, runEncoderFields, streamHeaders } from '../shared/encoding.ts'
import type { UiChunk } from './ui-message.ts'

/** Options of `uiMessageEncoder`. `cost` adds `metadata.costUsd`. With `replyTo` the response is a separate message. */
export interface UiEncoderOptions extends RunEncoderOptions {
  /**
   * Steps of the last response of `history` that the client has; the others are sent first. Default: all, with `restate` none.
   */
  knownSteps?: number
}

/** Checks the options of an encoder. */
export const encoderOptions = optionsOf<UiEncoderOptions>({ ...runEncoderFields, knownSteps: aNumberFromZero })

/** Encodes the events of one run as the chunks of one response. `useChat` sends decisions only after the response has ended. */
export interface UiMessageEncoder extends RunEncoder<UiChunk> {}

/** The headers of a `useChat` stream. */
export const uiMessageStreamHeaders: Readonly<Record<string, string>> = { ...streamHeaders, 'x-vercel-ai-ui-message-stream': 'v1' }

const needsSix = 'This needs AI SDK 6 or 7.'
const needsSeven = 'This needs AI SDK 7.'
const needs: { readonly [type in UiChunk['type']]?: string } = {
  'tool-approval-request': needsSix,
  'tool-output-denied': needsSix,
  'reset-step': needsSeven,
  'steering-message': needsSeven,
}

/**
 * Returns a chunk as a server-sent event. A chunk that older versions of the AI SDK refuse explains this in `note`, which they
 * show in their error. Throws what `JSON.stringify` throws.
 */
export function uiMessageSse(chunk: UiChunk): string {
  const isInterrupted = chunk.type === 'finish' && chunk.finishReason === 'interrupted'
  const note = isInterrupted ? needsSeven : needs[chunk.type]
  return `data: ${JSON.stringify(note === undefined ? chunk : { ...chunk, note })}\n\n`
}

/** The last line of the stream. */
export const uiMessageStreamEnd = 'data: [DONE]\n\n'
