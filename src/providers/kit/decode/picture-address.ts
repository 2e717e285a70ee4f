import type { ImageContent } from '../../../contract/message/content.ts'
import { isBase64, isHttpsAddress, typeByBytes, typeByName } from '../../../contract/message/media.ts'

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
