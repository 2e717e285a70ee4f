import {
  bigEndian,
  decoded,
  type ImageSize,
  littleEndian,
  pieceChars,
  imageSize as statedImageSize,
  pdfPages as statedPages,
} from '../../base/media-header.ts'

export type { ImageSize } from '../../base/media-header.ts'

/** Upper limits, because no provider accepts more than this. */
const mostPixels = 8192
const mostPages = 1000
const mostSeconds = 36_000

/** Returns the size of an image (base64), within provider limits. `undefined` if its first bytes do not contain it. */
export function imageSize(data: string): ImageSize | undefined {
  const size = statedImageSize(data)
  return size && { width: Math.min(size.width, mostPixels), height: Math.min(size.height, mostPixels) }
}

/** Returns the pages of a PDF (base64), within provider limits. `undefined` if unknown. */
export function pdfPages(data: string): number | undefined {
  const pages = statedPages(data)
  return pages && Math.min(pages, mostPages)
}

/** Returns the seconds of audio or video (base64): WAV, MP3 with a constant rate, MP4 and variants. `undefined` if unknown. */
export function mediaSeconds(data: string): number | undefined {
  const head = decoded(data, 0, pieceChars)
  const bytes = data.length * 0.75
  const seconds =
    wavSeconds(head, bytes) ?? mp3Seconds(head, bytes) ?? mp4Seconds(head) ?? mp4Seconds(decoded(data, tailStart(data), pieceChars))
  return seconds === undefined || !(seconds >= 0) ? undefined : Math.min(seconds, mostSeconds)
}

/** Start of the last piece. */
function tailStart({ length }: string): number {
  return Math.max(0, length - (length % 4) - pieceChars)
}

function wavSeconds(head: string, bytes: number): number | undefined {
  const format = head.startsWith('RIFF') && head.slice(8, 12) === 'WAVE' ? head.slice(0, 4096).indexOf('fmt ') : -1
  const rate = format < 0 ? 0 : littleEndian(head, format + 16, 4)
  return rate === 0 ? undefined : bytes / rate
}

/** Kilobits per second of layer III: version 1, and the others. */
const mp3Rates = [
  [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
]

function mp3Seconds(head: string, bytes: number): number | undefined {
  const tag = head.startsWith('ID3') ? 10 + [6, 7, 8, 9].reduce((size, at) => size * 128 + (head.charCodeAt(at) & 127), 0) : 0
  const [sync, kind, rate] = [head.charCodeAt(tag), head.charCodeAt(tag + 1), head.charCodeAt(tag + 2) >> 4]
  if (sync !== 0xff || (kind & 0xe6) !== 0xe2) return undefined
  const kilobits = mp3Rates[(kind & 0x18) === 0x18 ? 0 : 1]?.[rate - 1]
  return kilobits === undefined ? undefined : ((bytes - tag) * 8) / (kilobits * 1000)
}

/** The movie header has scale and duration. */
function mp4Seconds(part: string): number | undefined {
  const at = part.indexOf('mvhd')
  if (at < 0) return undefined
  const isLong = part.charCodeAt(at + 4) === 1
  const scale = bigEndian(part, at + (isLong ? 24 : 16), 4)
  const length = bigEndian(part, at + (isLong ? 28 : 20), isLong ? 8 : 4)
  return scale === 0 ? undefined : length / scale
}
