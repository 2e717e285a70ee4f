import { aNumberFromZero, options as optionsOf } from '../../contract/shape/shape.ts'
import { type RunEncoder, type RunEncoderOptions, runEncoderFields, streamHeaders } from '../shared/encoding.ts'
import type { UiChunk } from './ui-message.ts'

/** What an encoder has to know besides the events. A `cost` is `metadata.costUsd`. With `replyTo` the answer is a message of its own. */
export interface UiEncoderOptions extends RunEncoderOptions {
  /** How many steps of the last answer of `history` the client has; the others are sent first. Default: all, with `restate` none. */
  knownSteps?: number
}

/** Checks the options of an encoder. */
export const encoderOptions = optionsOf<UiEncoderOptions>({ ...runEncoderFields, knownSteps: aNumberFromZero })

/** Turns the events of one run into the chunks of one response. `useChat` sends what a person decides only after the response has ended. */
export interface UiMessageEncoder extends RunEncoder<UiChunk> {}

/** The headers that the stream of `useChat` has. */
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
