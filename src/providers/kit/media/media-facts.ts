import { type ImageSize, imageSize, isCutOff, pdfPages } from '../../../base/media-header.ts'
import type { MediaContent } from '../../../contract/message/content.ts'
import { kit } from './media-kit.ts'

/** What the bytes of a picture state. */
interface Picture {
  size: ImageSize | undefined
  isCut: boolean
}

/** What is known of a block of media. Each fact is read once: the bytes may be megabytes. */
export class MediaFacts {
  readonly #block: MediaContent
  #key: string | undefined
  #picture: Picture | undefined
  #pages: number | undefined
  #labelled: MediaContent | undefined

  constructor(block: MediaContent) {
    this.#block = block
  }

  /** Names media by what they contain, so that each copy of a block has the same key. */
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

  /** Pages of a PDF; 0 if it does not state them where they can be read. */
  get pages(): number {
    this.#pages ??= pdfPages(this.#block.data ?? '') ?? 0
    return this.#pages
  }

  /** The block, a picture under the type of its bytes. */
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

/** Returns what is known of `block`. */
export function factsOf(block: MediaContent): MediaFacts {
  const facts = known.get(block) ?? new MediaFacts(block)
  known.set(block, facts)
  return facts
}
