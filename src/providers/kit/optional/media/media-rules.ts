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
  /** Whether text files are sent as documents if citations are requested. */
  citesText?: boolean | undefined
  /** Media types that can be sent inline. Default: all that the model accepts. */
  inline?: readonly string[] | undefined
  /** File limits for one message. Default: only the request limits. */
  files?: FileLimits | undefined
}

/** File limits for some media types. */
export interface FileLimits {
  types: readonly string[]
  /** Maximum number of files of `types`. */
  most: number
  /** Maximum bytes per file. */
  maxBytes: number
  /** Media types in `types` that are exempt from `bytes`. */
  unlimited: readonly string[]
}

const lines = new WeakMap<ImageContent | FileContent, TextContent>()

/**
 * Returns `block` if the model accepts it. `others` contains the blocks of its message. An unsupported text file becomes text with the file
 * name. Other media become a line that states what was dropped and why, the same object at each call.
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

/** Returns the reason to drop `block`, or `undefined` if the model accepts the block or its text. */
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

/** Returns the media that the line `block` replaces, or `undefined` for other blocks. */
export function leftOutAt(block: Content): LeftOut | undefined {
  return block.type === 'text' ? leftOutLines.get(block) : undefined
}

/** Returns a warning about the replaced media. */
export function leftOutWarning({ block, reason }: LeftOut): string {
  const what = block.type === 'image' ? 'An image' : 'A file'
  const next = block.url === undefined ? '' : ' Pass its bytes, or set resolveMedia to fetch them.'
  return `${what} was dropped from a request: ${reason}.${next}`
}

/** Returns the line that replaces a block. Creates it once, so that its encoded form is reused. */
function line(block: ImageContent | FileContent, words: string): TextContent {
  const known = lines.get(block)
  if (known?.text === words) return known
  const made = text(words)
  lines.set(block, made)
  return made
}

/** Returns the reason not to send a block as media, even if its text is sent. Returns `undefined` if the block is sent as media. */
export function whyNotSent(
  block: ImageContent | FileContent,
  rules: MediaRules,
  api: ApiProtocol,
  others: readonly Content[],
): string | undefined {
  const { media, mediaById, files, citesText, inline = media } = rules
  const source = sourceOf(block)
  if (source.type === 'fileId') {
    if (source.api !== api) return `${mediaName(block)} was uploaded to another provider`
    return isMediaOf(block.mimeType, mediaById) ? undefined : `this provider does not accept ${mediaName(block)} by file id`
  }
  if (block.url !== undefined && !isFetched(block.url, block.mimeType, rules)) {
    return `this provider does not fetch ${mediaName(block)} from a URL`
  }
  if (block.blob !== undefined && isMediaOf(block.mimeType, media)) return `${mediaName(block)} could not be read from its session`
  if (block.url === undefined && isMediaOf(block.mimeType, media) && !isMediaOf(block.mimeType, inline))
    return `this provider accepts ${mediaName(block)} by URL or upload, not as bytes`
  if (isMediaOf(block.mimeType, media)) return files === undefined ? undefined : whyTooMuch(block, files, others)
  if (citesText === true && isToBeCited(block) && wordsIn(block) !== undefined) return undefined
  return media.length === 0 ? 'this model accepts only text' : `this model does not accept ${mediaName(block)}`
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
    return `${mediaName(block)} has ${bytes} bytes, but this provider accepts ${maxBytes} for such a file`
  const counted = others.filter((each) => each.type === 'file' && isMediaOf(each.mimeType, types))
  return counted.indexOf(block) < most
    ? undefined
    : `this service takes ${most} such files in a message, and ${mediaName(block)} is one more`
}

/** Returns the content of a text file, or `undefined` if it is not UTF-8. */
export const wordsIn = perObject((block: ImageContent | FileContent): string | undefined => {
  if (block.type === 'image' || block.data === undefined || !isTextType(block.mimeType)) return undefined
  return isBase64(block.data) ? utf8In(bytesOfBase64(block.data)) : undefined
})

/** Returns the text with the file name. */
const inlined = perObject((block: ImageContent | FileContent): string | undefined => {
  const words = wordsIn(block)
  return words === undefined ? undefined : `${block.type === 'file' ? (block.name ?? 'A file') : 'A file'}:\n${words}`
})

/** Returns whether citations are requested for this file. */
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
          `The context of ${mediaName(block)} was dropped from a request: the provider has no field for it. Put it into the message text.`,
        )
      if (block.citations === true && !says.includes('citations'))
        warnings.push(`citations of ${mediaName(block)} omitted: this provider does not cite sent files`)
    }
  }
  return [...new Set(warnings)]
}

/** File metadata other than the name. */
export type FileWord = 'context' | 'citations'
