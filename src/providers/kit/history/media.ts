import { mediaName } from '../../../contract/message/block-words.ts'
import type { Content, FileContent, ImageContent, TextContent } from '../../../contract/message/content.ts'
import { isMediaOf, isTextType, mediaBytes, sourceOf } from '../../../contract/message/media.ts'
import { text } from '../../../contract/message/message.ts'
import type { ApiProtocol, ModelCapabilities } from '../../../contract/model/model-config.ts'
import { perObject } from '../encode/per-object.ts'

/** What media a model takes. */
export interface MediaRules extends Pick<ModelCapabilities, 'media' | 'mediaByUrl' | 'mediaById'> {
  /** What the service takes of files in one message. Default: no limit but that of a request. */
  files?: {
    types: readonly string[]
    /** How many of `types`. */
    most: number
    /** Bytes of each. */
    maxBytes: number
    /** Those of `types` that may be larger. */
    unlimited: readonly string[]
  }
}

const lines = new WeakMap<ImageContent | FileContent, TextContent>()

/**
 * `block` where the model takes it; `others` are the blocks of its message. A text file that it does not take is its text, under its name. Of anything
 * else a line says what was left out, and why: the same object at each call.
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

/** Why `block` would be left out; `undefined` where the model takes it, or its text. */
export function whyLeftOut(
  block: ImageContent | FileContent,
  rules: MediaRules,
  api: ApiProtocol,
  others: readonly Content[],
): string | undefined {
  const reason = whyNotSent(block, rules, api, others)
  return reason === undefined || inlined(block) !== undefined ? undefined : reason
}

/** The line that stands for `block`, and says why. */
export function leftOutFor(block: ImageContent | FileContent, reason: string): TextContent {
  const standIn = line(block, `(${block.type} left out: ${reason})`)
  leftOut.set(standIn, { block, reason })
  return standIn
}

/** Media that were left out, and why. */
export interface LeftOut {
  block: ImageContent | FileContent
  reason: string
}

const leftOut = new WeakMap<TextContent, LeftOut>()

/** What was left out where `block` stands now; `undefined` where nothing was. */
export function leftOutAt(block: Content): LeftOut | undefined {
  return block.type === 'text' ? leftOut.get(block) : undefined
}

/** The same, as a warning. */
export function leftOutWarning({ block, reason }: LeftOut): string {
  const what = block.type === 'image' ? 'An image' : 'A file'
  const next = block.url === undefined ? '' : ' Pass its bytes, or resolveMedia, which fetches them.'
  return `${what} was left out of a request: ${reason}.${next}`
}

/** The lines that stand for what `block` is: made once, so that what was encoded before is found again. */
function line(block: ImageContent | FileContent, words: string): TextContent {
  const known = lines.get(block)
  if (known?.text === words) return known
  const made = text(words)
  lines.set(block, made)
  return made
}

/** Why a block is not sent as what it is; its text may be. `undefined` where it is sent. */
export function whyNotSent(
  block: ImageContent | FileContent,
  { media, mediaByUrl, mediaById, files }: MediaRules,
  api: ApiProtocol,
  others: readonly Content[],
): string | undefined {
  const source = sourceOf(block)
  if (source.type === 'fileId') {
    if (source.api !== api) return `${mediaName(block)} was uploaded to another service`
    return isMediaOf(block.mimeType, mediaById) ? undefined : `this service does not take ${mediaName(block)} by the id of a file`
  }
  if (source.type === 'url' && !isMediaOf(block.mimeType, mediaByUrl)) {
    return `this service does not fetch ${mediaName(block)} from an address`
  }
  if (block.blob !== undefined && isMediaOf(block.mimeType, media)) return `nobody could read ${mediaName(block)} from its session`
  if (isMediaOf(block.mimeType, media)) return files === undefined ? undefined : whyTooMuch(block, files, others)
  return media.length === 0 ? 'this model takes text only' : `this model does not take ${mediaName(block)}`
}

function whyTooMuch(
  block: ImageContent | FileContent,
  { types, most, maxBytes, unlimited }: NonNullable<MediaRules['files']>,
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

/** The text of a file, under its name, where files of its kind are sent as text; `undefined` where it is no UTF-8. */
const inlined = perObject((block: ImageContent | FileContent): string | undefined => {
  if (block.type === 'image' || block.data === undefined || !isTextType(block.mimeType)) return undefined
  try {
    const bytes = Uint8Array.from(atob(block.data), (char) => char.charCodeAt(0))
    const words = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return `${block.name ?? 'A file'}:\n${words}`
  } catch {
    return undefined
  }
})
