import type { FileContent, ImageContent } from '../contract/message/content.ts'
import { baseType, checkedTypes, isBase64, isHttpsAddress, isMediaOf, typeByBytes, typeByName } from '../contract/message/media.ts'

/** Maximum bytes of media in another server's response. */
export const maxAnswerBytes = 6 * 1024 * 1024

/**
 * Converts received media (image, PDF, audio, video) to a block that every provider can read or skip. Detects the type from the bytes,
 * because a wrong type would be rejected in every later request. For audio and video whose bytes are unknown, uses the server's type.
 * Returns `undefined` for other data.
 */
export function answeredMedia(data: string, statedType: string, name?: string): ImageContent | FileContent | undefined {
  const byBytes = typeByBytes(data)
  if (byBytes?.startsWith('image/') === true) return { type: 'image', mimeType: byBytes, data }
  const baseMimeType = baseType(statedType)
  const isUndetectable = isMediaOf(baseMimeType, ['audio/*', 'video/*']) && !isMediaOf(baseMimeType, checkedTypes)
  const mimeType = byBytes ?? (isUndetectable ? baseMimeType : undefined)
  if (mimeType?.includes('/') !== true) return undefined
  return { type: 'file', mimeType, data, ...(name !== undefined && { name }) }
}

/** Returns where an image is: in a data URL, or at an https URL. Returns `undefined` for other URLs. */
export function pictureAt(url: unknown): Pick<ImageContent, 'mimeType' | 'data' | 'url'> | undefined {
  if (typeof url !== 'string') return undefined
  const inside = /^data:(image\/[\w.+-]+);base64,/.exec(url)
  if (inside !== null) {
    const data = url.slice(inside[0].length)
    return data !== '' && isBase64(data) ? { mimeType: pictureType(inside[1] ?? '', data), data } : undefined
  }
  if (!isHttpsAddress(url) || !URL.canParse(url)) return undefined
  const named = typeByName(new URL(url).pathname)
  return { mimeType: named?.startsWith('image/') ? named : 'image/png', url }
}

/** Returns an image's media type: from its bytes if possible, otherwise `mimeType`. Other providers reject bytes of another type. */
export function pictureType(mimeType: string, data: string): string {
  const detected = typeByBytes(data)
  return detected?.startsWith('image/') ? detected : mimeType
}
