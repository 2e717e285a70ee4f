import type { FileContent, ImageContent } from '../../../src/index.ts'
import { bytesOf } from './figures.ts'

/** Types that can only be displayed. An SVG is a document and can contain scripts. */
const picture = /^image\/(png|jpeg|gif|webp)$/

/** Returns a file's name, or a name derived from an image's type. */
export function mediaName(block: ImageContent | FileContent): string {
  if (block.type === 'file') return block.name ?? 'file'
  return `picture.${picture.exec(block.mimeType)?.[1] ?? 'bin'}`
}

/** Returns a file's size as text, or an empty text if unknown. */
export function sizeOf({ data }: ImageContent | FileContent): string {
  return data === undefined ? '' : bytesOf(data.length * 0.75)
}

/** Returns the URL for content that can be shown as an image. */
export function pictureUrl({ mimeType, data }: ImageContent | FileContent): string | undefined {
  return data !== undefined && picture.test(mimeType) ? `data:${mimeType};base64,${data}` : undefined
}
