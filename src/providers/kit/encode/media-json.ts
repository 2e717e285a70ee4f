import type { FileContent, ImageContent } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/ids.ts'

type Media = ImageContent | FileContent

/** Characters from which on data are not copied. */
const longData = 64 * 1024
/** What may need no escape in JSON, and stand in an address. */
const otherThanBase64 = /[^A-Za-z0-9+/=]/

let marker: string | undefined

/**
 * The JSON that `encode` makes of a block, as what stands before its data, the data, and what stands behind: a request then refers to the bytes of the block, and
 * nobody keeps a copy. `undefined` where the data are short, or no base64.
 */
export function partsAround(
  block: Media,
  encode: (block: Media) => string,
): readonly [before: string, data: string, after: string] | undefined {
  const { data } = block
  if (data === undefined || data.length < longData || otherThanBase64.test(data)) return undefined
  // Nobody who writes a name or a text can know it.
  marker ??= newId()
  const json = encode({ ...block, data: marker })
  const at = json.indexOf(marker)
  if (at < 0 || json.includes(marker, at + marker.length)) return undefined
  return [json.slice(0, at), data, json.slice(at + marker.length)]
}

/** The same, as one text. */
export function mediaJson(block: Media, encode: (block: Media) => string): string {
  const parts = partsAround(block, encode)
  return parts === undefined ? encode(block) : parts[0] + parts[1] + parts[2]
}
