import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import { serviceToolText } from '../../contract/message/block-words.ts'
import {
  type Content,
  type FileContent,
  type ImageContent,
  isMedia,
  type ServiceToolContent,
  type TextContent,
  type ThinkingContent,
  type ToolCallContent,
} from '../../contract/message/content.ts'
import { sourceOf } from '../../contract/message/media.ts'
import { type AssistantMessage, type ToolResultMessage, text, type UserMessage } from '../../contract/message/message.ts'
import { joinedAll, perObject, toJson } from '../kit/encode/json-pieces.ts'
import { mediaJson, seeAttached } from '../kit/optional/media/media-json.ts'
import { lateResults, payloadOf, serviceToolBlocks } from '../kit/optional/server-tools/service-payload.ts'
import type { GeminiProfile } from './profile.ts'

/** Replaces a missing signature if the API requires one. Source: docs/providers/google.md */
const noSignature = 'skip_thought_signature_validator'

const illegalInName = /[^a-zA-Z0-9_.:-]/g

/** A tool result: its part, and media that follow all results of the turn, both as comma-separated JSON. */
export interface EncodedResult {
  part: string
  media: string
}

/** Encodes normalized messages to comma-separated parts. Caches the result as long as the message lives. */
export interface MessageEncoder {
  user(message: UserMessage): string
  answer(message: AssistantMessage): string
  /** Encodes a result. `name` is the call's name, because the API matches results by name. */
  result(message: ToolResultMessage, name: string): EncodedResult
}

/** Creates an encoder for models with `profile`. */
export function messageEncoder(profile: GeminiProfile): MessageEncoder {
  const known = perObject((message: ToolResultMessage) => encodeResult(message, message.toolName, profile))
  return {
    user: perObject(({ content }: UserMessage) => joinedAll(content.map(shownJson))),
    answer: perObject((message: AssistantMessage) => encodeAnswer(message, profile)),
    result: (message, name) => (name === message.toolName ? known(message) : encodeResult(message, name, profile)),
  }
}

/** Returns a block's signature. */
export function signatureOf(block: Content): string | undefined {
  const signature = block.providerState?.payload.thoughtSignature
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

function shownPart(block: Content): JsonObject {
  return isMedia(block) ? mediaPart(block) : { text: block.type === 'text' ? block.text : '' }
}

function shownJson(block: Content): string {
  return isMedia(block) ? mediaJson(block, (each) => toJson(mediaPart(each))) : toJson(shownPart(block))
}

function mediaPart(block: ImageContent | FileContent): JsonObject {
  const { mimeType } = block
  const source = sourceOf(block)
  if (source.type === 'data') return { inlineData: { mimeType, data: source.data } }
  return { fileData: { mimeType, fileUri: source.type === 'url' ? source.url : source.fileId } }
}

/** Encodes one part per block. Never merges parts, because a signature belongs to its part. */
function encodeAnswer({ content }: AssistantMessage, profile: GeminiProfile): string {
  const { family } = profile
  // Only the first of parallel calls is signed, so unsigned calls after a signed one are valid.
  const first = content.find((block) => block.type === 'toolCall')
  const lacksSignature = family.needsSignatures && first !== undefined && signatureOf(first) === undefined
  const sentBlocks = content.map((block) => (isUnsigned(block) ? text(serviceToolText(block)) : block))
  const late = lateResults(sentBlocks)
  const parts = sentBlocks.flatMap((block, at) => {
    const signature = signatureOf(block) ?? (block.type === 'toolCall' && lacksSignature ? noSignature : undefined)
    // An empty part is sent only if it has a signature.
    const isBlank = block.type === 'text' && signature === undefined && block.text.trim() === ''
    const own = isBlank
      ? []
      : answerParts(block, family).map((part) => (signature === undefined ? part : { ...part, thoughtSignature: signature }))
    return [...own, ...(late.get(at) ?? [])]
  })
  return parts.map((part) => toJson(part)).join(',')
}

/** Encodes a file in a response. */
function filePart(block: FileContent): JsonObject {
  if (block.data === undefined || !isBareSound(block.mimeType)) return mediaPart(block)
  return { inlineData: { mimeType: 'audio/wav', data: waveOf(block.mimeType, block.data) } }
}

function answerParts(block: Content, family: GeminiProfile['family']): JsonObject[] {
  switch (block.type) {
    case 'image':
      return [mediaPart(block)]
    case 'file':
      return [filePart(block)]
    case 'serviceTool':
      return serviceToolBlocks(block)
    case 'opaque': {
      const part = block.providerState?.payload.part
      return isJsonObject(part) ? [part] : []
    }
    default:
      return [answerPart(block, family)]
  }
}

/** Returns whether a call is unsigned. Unsigned calls are sent as text, because the API rejects them. */
function isUnsigned(block: Content): block is ServiceToolContent {
  if (block.type !== 'serviceTool') return false
  const { call } = payloadOf(block)
  return call?.toolCall !== undefined && call.thoughtSignature === undefined
}

function answerPart(block: TextContent | ThinkingContent | ToolCallContent, family: GeminiProfile['family']): JsonObject {
  if (block.type === 'text') return { text: block.text }
  if (block.type === 'thinking') return { text: block.thinking, thought: true }
  return { functionCall: { ...idOf(block.id, family), name: legalName(block.name), args: block.arguments } }
}

function idOf(id: ToolCallContent['id'], { echoesCallIds }: GeminiProfile['family']): JsonObject {
  return echoesCallIds ? { id } : {}
}

/** Returns a valid tool name, because a model may invent an invalid name. */
function legalName(name: string): string {
  const legal = name.replace(illegalInName, '_')
  return (/^[a-zA-Z_]/.test(legal) ? legal : `_${legal}`).slice(0, 64)
}

function encodeResult(message: ToolResultMessage, name: string, { family, capabilities }: GeminiProfile): EncodedResult {
  const images = message.content.filter(isMedia).map(mediaPart)
  const words = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const outputText = words === '' ? seeAttached(message.content) : words
  const result: JsonObject = {
    ...idOf(message.toolCallId, family),
    name: legalName(name),
    response: message.isError ? { error: outputText } : { output: outputText },
  }
  const isInside = capabilities.mediaInToolResults.length > 0
  if (isInside && images.length > 0) result.parts = images
  return { part: toJson({ functionResponse: result }), media: isInside ? '' : images.map((image) => toJson(image)).join(',') }
}

/** Default sample rate in Hz. */
const usualRate = 24_000
/** Length of the WAV header. A multiple of three, so that base64 pieces can be concatenated. */
const headBytes = 54

/** Returns whether audio is raw samples, which the API sends but does not accept. */
export function isBareSound(mimeType: string): boolean {
  return /^audio\/(l16|pcm)\b/i.test(mimeType)
}

/** Converts raw samples (16 bits, mono, base64) to a WAV file. */
function waveOf(mimeType: string, samples: string): string {
  const bytes = (samples.length / 4) * 3 - (/=*$/.exec(samples)?.[0].length ?? 0)
  const rate = Number(/rate=(\d+)/i.exec(mimeType)?.[1] ?? usualRate)
  const head = new DataView(new ArrayBuffer(headBytes))
  const name = (at: number, text: string) => {
    for (let index = 0; index < text.length; index++) head.setUint8(at + index, text.charCodeAt(index))
  }
  name(0, 'RIFF')
  head.setUint32(4, headBytes - 8 + bytes, true)
  name(8, 'WAVEfmt ')
  head.setUint32(16, 16, true)
  head.setUint16(20, 1, true)
  head.setUint16(22, 1, true)
  head.setUint32(24, rate, true)
  head.setUint32(28, rate * 2, true)
  head.setUint16(32, 2, true)
  head.setUint16(34, 16, true)
  // Write a padding chunk, which readers skip.
  name(36, 'JUNK')
  head.setUint32(40, 2, true)
  name(46, 'data')
  head.setUint32(50, bytes, true)
  return btoa(String.fromCharCode(...new Uint8Array(head.buffer))) + samples
}
