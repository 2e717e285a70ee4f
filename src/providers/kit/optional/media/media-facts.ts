import type { parsedJson } from '../../../../base/json/json-value.ts'
import { type ImageSize, imageSize, isCutOff, pdfPages } from '../../../../base/media-header.ts'
import type { shortened } from '../../../../base/text/characters.ts'
import type { errorText, ProviderError } from '../../../../contract/errors.ts'
import type { mediaName } from '../../../../contract/message/block-words.ts'
import type { isMedia, MediaContent } from '../../../../contract/message/content.ts'
import type { baseType, isMediaOf, isTextType, mediaBytes, typeByBytes } from '../../../../contract/message/media.ts'
import type { readErrorFacts } from '../../errors/error-facts.ts'
import type { hashText } from '../../history/hash.ts'
import type { isFetched, leftOutAt, leftOutFor, whyLeftOut } from './media-rules.ts'

/**
 * Functions that the core passes to the lazily loaded media part. If the part imported them, a bundler would move shared code into the
 * initial chunk.
 */
export interface MediaKit {
  parsedJson: typeof parsedJson
  shortened: typeof shortened
  errorText: typeof errorText
  ProviderError: typeof ProviderError
  mediaName: typeof mediaName
  isMedia: typeof isMedia
  baseType: typeof baseType
  isMediaOf: typeof isMediaOf
  isTextType: typeof isTextType
  mediaBytes: typeof mediaBytes
  typeByBytes: typeof typeByBytes
  readErrorFacts: typeof readErrorFacts
  hashText: typeof hashText
  isFetched: typeof isFetched
  leftOutAt: typeof leftOutAt
  leftOutFor: typeof leftOutFor
  whyLeftOut: typeof whyLeftOut
}

/** Set before any other function of this part is called. */
export let kit: MediaKit

/** Sets the core's functions. */
export function takeKit(given: MediaKit): void {
  kit = given
}

/** Facts read from an image's bytes. */
interface Picture {
  size: ImageSize | undefined
  isCut: boolean
}

/** Facts about a media block. Computes each fact once, because the bytes may be megabytes. */
export class MediaFacts {
  readonly #block: MediaContent
  #key: string | undefined
  #picture: Picture | undefined
  #pages: number | undefined
  #labelled: MediaContent | undefined

  constructor(block: MediaContent) {
    this.#block = block
  }

  /** Derives a key from the content, so that all copies of a block have the same key. */
  get key(): string {
    const { data, url, fileId } = this.#block
    this.#key ??= kit.hashText(data ?? url ?? fileId ?? '')
    return this.#key
  }

  get picture(): Picture {
    const { data = '' } = this.#block
    this.#picture ??= { size: imageSize(data), isCut: isCutOff(data) }
    return this.#picture
  }

  /** Number of pages of a PDF; 0 if unknown. */
  get pages(): number {
    this.#pages ??= pdfPages(this.#block.data ?? '') ?? 0
    return this.#pages
  }

  /** The block. An image's media type is corrected to match its bytes. */
  get labelled(): MediaContent {
    this.#labelled ??= underItsType(this.#block)
    return this.#labelled
  }
}

function underItsType(block: MediaContent): MediaContent {
  const mimeType = block.type === 'image' && block.data !== undefined ? kit.typeByBytes(block.data) : undefined
  return mimeType?.startsWith('image/') !== true || mimeType === kit.baseType(block.mimeType) ? block : { ...block, mimeType }
}

const known = new WeakMap<MediaContent, MediaFacts>()

/** Returns the facts of `block`. */
export function factsOf(block: MediaContent): MediaFacts {
  const facts = known.get(block) ?? new MediaFacts(block)
  known.set(block, facts)
  return facts
}
