import type { FileContent, ImageContent } from '../contract/message/content.ts'
import { baseType, checkedTypes, isBase64, isHttpsAddress, isMediaOf, typeByBytes, typeByName } from '../contract/message/media.ts'

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

/** Where a picture is that a service names by an address: in the address itself, or behind https. `undefined` for what is neither. */
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

/** The type of a picture that a service tells as `mimeType`: what its bytes say, where they do. Another service refuses bytes of another type. */
export function pictureType(mimeType: string, data: string): string {
  const told = typeByBytes(data)
  return told?.startsWith('image/') ? told : mimeType
}
