import { bytesOfBase64 } from '../../../../base/base64.ts'
import { utf8In } from '../../../../base/text/characters.ts'
import { mediaName } from '../../../../contract/message/block-words.ts'
import type { Content, FileContent, ImageContent, TextContent } from '../../../../contract/message/content.ts'
import { isBase64, isMediaOf, isTextType, mediaBytes, sourceOf } from '../../../../contract/message/media.ts'
import { type Message, text } from '../../../../contract/message/message.ts'
import type { ApiProtocol, ModelCapabilities } from '../../../../contract/model/model-config.ts'
import { perObject } from '../../encode/json-pieces.ts'

/** Media that a model accepts. */
export interface MediaRules extends Pick<ModelCapabilities, 'media' | 'mediaByUrl' | 'mediaById'> {
  /** URLs that the provider fetches, in addition to those of `mediaByUrl`. */
  fetches?: RegExp | undefined
  /** Text files are sent as documents if they are to be cited. */
  citesText?: boolean | undefined
  /** Media types that can be sent inline. Default: all that the model accepts. */
  inline?: readonly string[] | undefined
  /** File limits of one message. Default: only those of a request. */
  files?: FileLimits | undefined
}

/** File limits for some media types. */
export interface FileLimits {
  types: readonly string[]
  /** Maximum number of files of `types`. */
  most: number
  /** Maximum bytes of each. */
  maxBytes: number
  /** Media types of `types` that may be larger. */
  unlimited: readonly string[]
}

const lines = new WeakMap<ImageContent | FileContent, TextContent>()

/**
 * Returns `block` if the model accepts it; `others` are the blocks of its message. An unsupported text file becomes its text with its name.
 * For other media, a line names what was dropped and why: the same object at each call.
 */
export function takenMedia(
  block: ImageContent | FileContent,
  rules: MediaRules,
  api: ApiProtocol,
  others: readonly Content[],
): ImageContent | FileContent | TextContent {
  const reason = whyNotSent(block, rules, api, others)
  if (reason === undefined) return block
  const words = inlined(block)
  if (words !== undefined) return line(block, words)
  return leftOutFor(block, reason)
}

/** Returns why `block` would be dropped; `undefined` if the model accepts it, or its text. */
export function whyLeftOut(
  block: ImageContent | FileContent,
  rules: MediaRules,
  api: ApiProtocol,
  others: readonly Content[],
): string | undefined {
  const reason = whyNotSent(block, rules, api, others)
  return reason === undefined || inlined(block) !== undefined ? undefined : reason
}

/** Returns the line that replaces `block`, with the reason. */
export function leftOutFor(block: ImageContent | FileContent, reason: string): TextContent {
  const standIn = line(block, `(${block.type} left out: ${reason})`)
  leftOutLines.set(standIn, { block, reason })
  return standIn
}

/** Dropped media, with reasons. */
export interface LeftOut {
  block: ImageContent | FileContent
  reason: string
}

/** Dropped media by replacement line. */
export const leftOutLines = new WeakMap<TextContent, LeftOut>()

/** Returns what `block` replaces; `undefined` if nothing. */
export function leftOutAt(block: Content): LeftOut | undefined {
  return block.type === 'text' ? leftOutLines.get(block) : undefined
}

/** Returns the same as a warning. */
export function leftOutWarning({ block, reason }: LeftOut): string {
  const what = block.type === 'image' ? 'An image' : 'A file'
  const next = block.url === undefined ? '' : ' Pass its bytes, or resolveMedia, which fetches them.'
  return `${what} was left out of a request: ${reason}.${next}`
}

/** Replacement lines by block, created once, so that their encoded form is reused. */
function line(block: ImageContent | FileContent, words: string): TextContent {
  const known = lines.get(block)
  if (known?.text === words) return known
  const made = text(words)
  lines.set(block, made)
  return made
}

/** Returns why a block is not sent as media (its text may be); `undefined` if it is sent. */
export function whyNotSent(
  block: ImageContent | FileContent,
  rules: MediaRules,
  api: ApiProtocol,
  others: readonly Content[],
): string | undefined {
  const { media, mediaById, files, citesText, inline = media } = rules
  const source = sourceOf(block)
  if (source.type === 'fileId') {
    if (source.api !== api) return `${mediaName(block)} was uploaded to another service`
    return isMediaOf(block.mimeType, mediaById) ? undefined : `this service does not take ${mediaName(block)} by the id of a file`
  }
  if (block.url !== undefined && !isFetched(block.url, block.mimeType, rules)) {
    return `this service does not fetch ${mediaName(block)} from an address`
  }
  if (block.blob !== undefined && isMediaOf(block.mimeType, media)) return `nobody could read ${mediaName(block)} from its session`
  if (block.url === undefined && isMediaOf(block.mimeType, media) && !isMediaOf(block.mimeType, inline))
    return `this service takes ${mediaName(block)} by an address or uploaded, and not its bytes`
  if (isMediaOf(block.mimeType, media)) return files === undefined ? undefined : whyTooMuch(block, files, others)
  if (citesText === true && isToBeCited(block) && wordsIn(block) !== undefined) return undefined
  return media.length === 0 ? 'this model takes text only' : `this model does not take ${mediaName(block)}`
}

/** Returns whether the provider fetches this URL itself. */
export function isFetched(url: string, mimeType: string, { mediaByUrl, fetches }: Pick<MediaRules, 'mediaByUrl' | 'fetches'>): boolean {
  return isMediaOf(mimeType, mediaByUrl) || fetches?.test(url) === true
}

function whyTooMuch(
  block: ImageContent | FileContent,
  { types, most, maxBytes, unlimited }: FileLimits,
  others: readonly Content[],
): string | undefined {
  if (block.type !== 'file' || !isMediaOf(block.mimeType, types)) return undefined
  const bytes = mediaBytes(block)
  if (bytes > maxBytes && !isMediaOf(block.mimeType, unlimited))
    return `${mediaName(block)} has ${bytes} bytes, and this service takes ${maxBytes} of such a file`
  const counted = others.filter((each) => each.type === 'file' && isMediaOf(each.mimeType, types))
  return counted.indexOf(block) < most
    ? undefined
    : `this service takes ${most} such files in a message, and ${mediaName(block)} is one more`
}

/** Returns the text of a file that is sent as text; `undefined` if it is not UTF-8. */
export const wordsIn = perObject((block: ImageContent | FileContent): string | undefined => {
  if (block.type === 'image' || block.data === undefined || !isTextType(block.mimeType)) return undefined
  return isBase64(block.data) ? utf8In(bytesOfBase64(block.data)) : undefined
})

/** Returns the same with the file name. */
const inlined = perObject((block: ImageContent | FileContent): string | undefined => {
  const words = wordsIn(block)
  return words === undefined ? undefined : `${block.type === 'file' ? (block.name ?? 'A file') : 'A file'}:\n${words}`
})

/** Returns whether the model is to cite this file. */
export function isToBeCited(block: Content): block is FileContent {
  return block.type === 'file' && (block.citations === true || block.citations === 'ifPossible')
}

/** Returns warnings about metadata that the provider cannot receive with a file. */
export function omissionWarnings(
  messages: readonly Message[],
  says: readonly FileWord[],
  { rules, api }: { rules: MediaRules; api: ApiProtocol },
): string[] {
  const warnings: string[] = []
  for (const { role, content } of messages) {
    for (const block of role === 'assistant' ? [] : content) {
      if (block.type !== 'file' || whyNotSent(block, rules, api, content) !== undefined) continue
      if (block.context !== undefined && !says.includes('context'))
        warnings.push(
          `The context of ${mediaName(block)} was left out of a request: the provider has no field for it. Put it into the text of the message.`,
        )
      if (block.citations === true && !says.includes('citations'))
        warnings.push(`citations of ${mediaName(block)} left out: this service cites no files that it is sent`)
    }
  }
  return [...new Set(warnings)]
}

/** Metadata of a file other than its name. */
export type FileWord = 'context' | 'citations'
