import { aNumberFromZero, options as optionsOf } from '../../contract/shape/shape.ts'
import { type RunEncoder, type RunEncoderOptions, runEncoderFields, streamHeaders } from '../shared/encoding.ts'
import type { UiChunk } from './ui-message.ts'

/** Options for `uiMessageEncoder`. `cost` adds `metadata.costUsd`. With `replyTo`, the response is a separate message. */
export interface UiEncoderOptions extends RunEncoderOptions {
  /**
   * Number of steps in the last response of `history` that the client already has. The remaining steps are sent first. Default: all steps,
   * or 0 with `restate`.
   */
  knownSteps?: number
}

/** Validates the encoder options. */
export const encoderOptions = optionsOf<UiEncoderOptions>({ ...runEncoderFields, knownSteps: aNumberFromZero })

/** Encodes one run as the chunks of one response. `useChat` sends decisions only after the response has ended. */
export interface UiMessageEncoder extends RunEncoder<UiChunk> {}

/** HTTP headers of a `useChat` stream. */
export const uiMessageStreamHeaders: Readonly<Record<string, string>> = { ...streamHeaders, 'x-vercel-ai-ui-message-stream': 'v1' }

const needsSix = 'This requires AI SDK 6 or 7.'
const needsSeven = 'This requires AI SDK 7.'
const needs: { readonly [type in UiChunk['type']]?: string } = {
  'tool-approval-request': needsSix,
  'tool-output-denied': needsSix,
  'reset-step': needsSeven,
  'steering-message': needsSeven,
}

/**
 * Formats a chunk as a server-sent event. Chunks that older AI SDK versions reject include a `note` with the required version, which
 * appears in the AI SDK's error. Throws the same errors as `JSON.stringify`.
 */
export function uiMessageSse(chunk: UiChunk): string {
  const isInterrupted = chunk.type === 'finish' && chunk.finishReason === 'interrupted'
  const note = isInterrupted ? needsSeven : needs[chunk.type]
  return `data: ${JSON.stringify(note === undefined ? chunk : { ...chunk, note })}\n\n`
}

/** The stream's last line. */
export const uiMessageStreamEnd = 'data: [DONE]\n\n'
