import type { FileContent, ImageContent } from '../../../src/index.ts'
import { bytesOf } from './figures.ts'

/** Types that only display themselves. An SVG is a document, and can contain scripts. */
const picture = /^image\/(png|jpeg|gif|webp)$/

/** The name, or the kind of image. */
export function mediaName(block: ImageContent | FileContent): string {
  if (block.type === 'file') return block.name ?? 'file'
  return `picture.${picture.exec(block.mimeType)?.[1] ?? 'bin'}`
}

/** How long it is; empty where that is not known here. */
export function sizeOf({ data }: ImageContent | FileContent): string {
  return data === undefined ? '' : bytesOf(data.length * 0.75)
}

/** The address of what can be shown as a picture. */
export function pictureUrl({ mimeType, data }: ImageContent | FileContent): string | undefined {
  return data !== undefined && picture.test(mimeType) ? `data:${mimeType};base64,${data}` : undefined
}
