import type { FileContent, ImageContent } from '../contract/message/content.ts'
import { baseType, checkedTypes, isMediaOf, typeByBytes } from '../contract/message/media.ts'

/** The most bytes of media that the answer of somebody else's server may bring. */
export const maxAnswerBytes = 6 * 1024 * 1024

/**
 * What a server sent, as a block that every service can read or leave out: a picture, a PDF, sound, video. Its bytes say what it is, the server only of
 * which kind its sound or video is: what contradicts its type would be refused with every later request. `undefined` for anything else.
 */
export function answeredMedia(data: string, saidType: string, name?: string): ImageContent | FileContent | undefined {
  const byBytes = typeByBytes(data)
  if (byBytes?.startsWith('image/') === true) return { type: 'image', mimeType: byBytes, data }
  const said = baseType(saidType)
  const isSaidAlone = isMediaOf(said, ['audio/*', 'video/*']) && !isMediaOf(said, checkedTypes)
  const mimeType = byBytes ?? (isSaidAlone ? said : undefined)
  if (mimeType?.includes('/') !== true) return undefined
  return { type: 'file', mimeType, data, ...(name !== undefined && { name }) }
}
