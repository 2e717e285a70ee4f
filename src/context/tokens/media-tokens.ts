import type { FileContent, ImageContent } from '../../contract/message/content.ts'
import { isMediaOf, isTextType, mediaBytes } from '../../contract/message/media.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { counterBy, heuristicTokenCounter } from './estimate.ts'
import { type ImageSize, imageSize, mediaSeconds, pdfPages } from './media-size.ts'

/** Token rules of a model family for media. */
interface MediaTokenRule {
  image: (size: ImageSize) => number
  /** Per PDF page: its text and its image. */
  page: number
  /** Per second. */
  audio: number
  /** Per second, with audio. */
  video: number
}

/** For media whose bytes are unavailable or unreadable. */
const usualImage: ImageSize = { width: 1024, height: 1024 }
const usualPages = 10
const usualSeconds = 60
/** Bytes of a page, and of a second, of a file without a readable length. */
const pageBytes = 50_000
const audioBytes = 16_000
const videoBytes = 125_000

const ofMany = { page: 2500, audio: 32, video: 102 }
const ofGpt = { ...ofMany, audio: 10 }

/**
 * Rules of the providers. The first matching row applies. Sources: platform.claude.com/docs/en/build-with-claude/vision,
 * platform.openai.com/docs/guides/images-vision, ai.google.dev/gemini-api/docs/tokens, 2026-11.
 */
const rules: readonly (readonly [ids: RegExp, rule: MediaTokenRule])[] = [
  [/claude-(instant|v?[23]\b|\w+-4(?![-.][789]\b))/, { ...ofMany, page: 3800, image: patches(28, 1568, 1568) }],
  [/claude/, { ...ofMany, page: 3800, image: patches(28, 2576, 4784) }],
  [/gpt-5\.[45].*nano/, { ...ofGpt, image: patches(32, 2048, 1536, 2.46) }],
  [/gpt-5\.[45].*mini/, { ...ofGpt, image: patches(32, 2048, 1536, 1.62) }],
  [/gpt-5\.[45]/, { ...ofGpt, image: patches(32, 2048, 2500) }],
  [/gpt-5\.[23]/, { ...ofGpt, image: patches(32, 2048, 1536) }],
  [/gpt-(5\.[6-9]|[6-9])/, { ...ofGpt, image: patches(32, Infinity, Infinity) }],
  [/o4-mini/, { ...ofGpt, image: patches(32, 2048, 1536, 1.72) }],
  [/gpt-5/, { ...ofGpt, image: tiles(70, 140) }],
  [/\bo[13]\b/, { ...ofGpt, image: tiles(75, 150) }],
  [/gpt-4(o|\.1)/, { ...ofGpt, image: tiles(85, 170) }],
  [/gemini-[12]\b/, { page: 258, audio: 32, video: 290, image: geminiTiles }],
  [/gemini/, { page: 560, audio: 32, video: 102, image: () => 1120 }],
]

const counters = new Map<MediaTokenRule, TokenCounter>()

/**
 * Returns the default counter for a model id: `heuristicTokenCounter`, with the provider's media rules if known. Models with the same rules share
 * one object, because estimates are cached per counter.
 *
 * Source: docs/concepts/context.md
 */
export function tokenCounterFor(modelId: string): TokenCounter {
  const rule = rules.find(([ids]) => ids.test(modelId))?.[1]
  if (rule === undefined) return heuristicTokenCounter
  const known = counters.get(rule) ?? counterBy((block) => mediaTokens(block, rule))
  counters.set(rule, known)
  return known
}

/** Counts the tokens of media by `rule`. The file's own header is trusted, within provider limits. */
function mediaTokens(block: ImageContent | FileContent, rule: MediaTokenRule): number {
  const { data, mimeType } = block
  if (block.type === 'image' || isMediaOf(mimeType, ['image/*'])) return rule.image((data && imageSize(data)) || usualImage)
  const bytes = mediaBytes(block)
  if (isTextType(mimeType)) return Math.ceil(bytes / 4)
  const isVideo = isMediaOf(mimeType, ['video/*'])
  if (isVideo || isMediaOf(mimeType, ['audio/*'])) {
    const seconds =
      bytes === 0 ? usualSeconds : ((data === undefined ? undefined : mediaSeconds(data)) ?? bytes / (isVideo ? videoBytes : audioBytes))
    return Math.ceil(Math.max(1, seconds) * (isVideo ? rule.video : rule.audio))
  }
  const isPdf = isMediaOf(mimeType, ['application/pdf'])
  const pages = bytes === 0 ? usualPages : ((isPdf && data !== undefined ? pdfPages(data) : undefined) ?? Math.ceil(bytes / pageBytes))
  return pages * rule.page
}

/** Creates a rule that counts an image's patches, after scaling to a maximum longest edge and a maximum number of patches. */
function patches(side: number, longestEdge: number, most: number, factor = 1): MediaTokenRule['image'] {
  return (size) => {
    const { width, height } = within(size, longestEdge)
    return Math.ceil(Math.min(most, Math.ceil(width / side) * Math.ceil(height / side)) * factor)
  }
}

/** Creates a rule that counts an image's 512-pixel tiles, after scaling to 2048 by 2048, then to a shorter side of 768. */
function tiles(base: number, each: number): MediaTokenRule['image'] {
  return (size) => {
    const { width, height } = within(size, 2048)
    const scale = Math.min(1, 768 / Math.min(width, height))
    return base + each * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
  }
}

function geminiTiles({ width, height }: ImageSize): number {
  return width <= 384 && height <= 384 ? 258 : 258 * Math.ceil(width / 768) * Math.ceil(height / 768)
}

function within({ width, height }: ImageSize, longestEdge: number): ImageSize {
  const scale = Math.min(1, longestEdge / Math.max(width, height))
  return { width: width * scale, height: height * scale }
}
