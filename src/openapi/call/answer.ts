import { toBase64 } from '../../base/base64.ts'
import { readBytes } from '../../base/http-answer.ts'
import { answeredMedia, maxAnswerBytes } from '../../base/received-media.ts'
import type { FileContent, ImageContent } from '../../contract/message/content.ts'
import { baseType, isMediaOf } from '../../contract/message/media.ts'

/** A response body's content. */
export interface ReadBody {
  text: string
  /** An image, a PDF, audio or video. */
  media?: ImageContent | FileContent
  isTruncated: boolean
}

/** Content types that are not text. */
const binary =
  /^\s*(image\/(?!svg)|audio\/|video\/|font\/|application\/(octet-stream|pdf|zip|gzip|x-tar|x-gzip|vnd\.openxmlformats|wasm|protobuf|x-protobuf))/i

/** Media types that are passed to the model unchanged. */
const shownTypes = ['image/*', 'application/pdf', 'audio/*', 'video/*']

/**
 * Reads up to `limit` bytes of a body as text and leaves the rest unread.
 *
 * - `clean` may change the text before it is cut. It replaces parts of at most `longest` characters, and no such part is cut in half.
 * - Media up to 6 MiB become a block. Other binary data is described.
 */
export async function readBody(response: Response, limit: number, longest: number, clean: (text: string) => string): Promise<ReadBody> {
  const type = response.headers.get('content-type') ?? ''
  const isBinary = binary.test(type)
  const readLimit = isBinary && isMediaOf(type, shownTypes) ? maxAnswerBytes : limit + longest * 3 + 4
  const { bytes, isWhole } = await readBytes(response, readLimit)
  if (isBinary && bytes.length > 0) {
    const media = isWhole ? answeredMedia(toBase64(bytes), type) : undefined
    const what = `${isWhole ? bytes.length : `more than ${readLimit === maxAnswerBytes ? readLimit : limit}`} bytes of ${baseType(type)}`
    return media === undefined ? { text: `(${what}, not shown)`, isTruncated: !isWhole } : { text: `(${what})`, media, isTruncated: false }
  }
  // Without the end of the stream, an incomplete character at the end is dropped, not replaced.
  const text = clean(decoderFor(type).decode(bytes, { stream: !isWhole }))
  // Reading may have stopped within a part, also within the limit if other parts became shorter.
  const shown = firstBytes(isWhole ? text : text.slice(0, Math.max(0, text.length - longest)), limit)
  return { text: shown, isTruncated: !isWhole || shown.length < text.length }
}

function decoderFor(type: string): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

/** Cuts `text` to `limit` bytes of UTF-8, between characters. */
function firstBytes(text: string, limit: number): string {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= limit) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limit))
  return text.slice(0, read)
}
