/** How large a picture is, in pixels. */
export interface ImageSize {
  width: number
  height: number
}

/** Characters of base64 in which the size of a picture stands, also behind a preview. */
const imageHead = 256 * 1024
/** Characters of base64 that are decoded at a time; divisible by 4. */
const pieceChars = 1024 * 1024
/** Characters of a piece that are looked at again with the next one: what is looked for may stand across. */
const overlap = 64
/** Whatever a file says of itself, no service takes more. */
const mostPixels = 8192
const mostPages = 1000
const mostSeconds = 36_000

/** The size of a picture, from its first bytes (base64): PNG, JPEG, GIF, WebP. `undefined` where they do not say it. */
export function imageSize(data: string): ImageSize | undefined {
  const head = decoded(data, 0, 64)
  if (head.startsWith('\x89PNG')) return sized(bigEndian(head, 16, 4), bigEndian(head, 20, 4))
  if (head.startsWith('GIF8')) return sized(littleEndian(head, 6, 2), littleEndian(head, 8, 2))
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return webpSize(head)
  return head.startsWith('\xff\xd8') ? jpegSize(decoded(data, 0, imageHead)) : undefined
}

function sized(width: number, height: number): ImageSize | undefined {
  return width > 0 && height > 0 ? { width: Math.min(width, mostPixels), height: Math.min(height, mostPixels) } : undefined
}

function webpSize(head: string): ImageSize | undefined {
  const kind = head.slice(12, 16)
  if (kind === 'VP8X') return sized(littleEndian(head, 24, 3) + 1, littleEndian(head, 27, 3) + 1)
  if (kind === 'VP8 ') return sized(littleEndian(head, 26, 2) & 0x3fff, littleEndian(head, 28, 2) & 0x3fff)
  if (kind !== 'VP8L') return undefined
  const bits = littleEndian(head, 21, 4)
  return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
}

/** Walks over the segments to the frame, which says the size. */
function jpegSize(head: string): ImageSize | undefined {
  for (let at = 2; at + 9 < head.length && head.charCodeAt(at) === 0xff; ) {
    const marker = head.charCodeAt(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return sized(bigEndian(head, at + 7, 2), bigEndian(head, at + 5, 2))
    at += marker === 0xff ? 1 : 2 + bigEndian(head, at + 2, 2)
  }
  return undefined
}

/**
 * Pages of a PDF (base64): what the head of one that is made for the web says, else its page objects that are not compressed. `undefined` where neither can
 * be read. Nothing is unpacked; the time is that of reading it once, in bounded memory.
 */
export function pdfPages(data: string): number | undefined {
  const said = /\/Linearized [\d.]+[^>]{0,300}?\/N (\d{1,6})/.exec(decoded(data, 0, 4096))?.[1]
  let pages = Number(said ?? 0)
  let rest = ''
  for (let at = 0; said === undefined && at < data.length; at += pieceChars) {
    const piece = rest + decoded(data, at, pieceChars)
    // What stands in the overlap alone was counted before.
    for (const { index, 0: found } of piece.matchAll(/\/Type\s{0,4}\/Page(?=\W)/g)) if (index + found.length >= rest.length) pages += 1
    rest = piece.slice(-overlap)
  }
  return pages === 0 ? undefined : Math.min(pages, mostPages)
}

/** Seconds of sound or video (base64): WAV, MP3 of one rate, MP4 and its kin. `undefined` where the file does not say it where it is looked for. */
export function mediaSeconds(data: string): number | undefined {
  const head = decoded(data, 0, pieceChars)
  const bytes = data.length * 0.75
  const seconds =
    wavSeconds(head, bytes) ?? mp3Seconds(head, bytes) ?? mp4Seconds(head) ?? mp4Seconds(decoded(data, tailStart(data), pieceChars))
  return seconds === undefined || !(seconds >= 0) ? undefined : Math.min(seconds, mostSeconds)
}

/** Where the last piece begins. */
function tailStart({ length }: string): number {
  return Math.max(0, length - (length % 4) - pieceChars)
}

function wavSeconds(head: string, bytes: number): number | undefined {
  const format = head.startsWith('RIFF') && head.slice(8, 12) === 'WAVE' ? head.slice(0, 4096).indexOf('fmt ') : -1
  const rate = format < 0 ? 0 : littleEndian(head, format + 16, 4)
  return rate === 0 ? undefined : bytes / rate
}

/** Kilobits per second of layer III: of version 1, and of the others. */
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

/** The head of a movie has its scale and its length. */
function mp4Seconds(part: string): number | undefined {
  const at = part.indexOf('mvhd')
  if (at < 0) return undefined
  const isLong = part.charCodeAt(at + 4) === 1
  const scale = bigEndian(part, at + (isLong ? 24 : 16), 4)
  const length = bigEndian(part, at + (isLong ? 28 : 20), isLong ? 8 : 4)
  return scale === 0 ? undefined : length / scale
}

/** A piece of base64 as characters, one for each byte. */
function decoded(data: string, start: number, length: number): string {
  try {
    return atob(data.slice(start, start + length))
  } catch {
    return ''
  }
}

function bigEndian(text: string, at: number, length: number): number {
  let value = 0
  for (let next = at; next < at + length; next += 1) value = value * 256 + text.charCodeAt(next)
  return value
}

function littleEndian(text: string, at: number, length: number): number {
  let value = 0
  for (let next = at + length - 1; next >= at; next -= 1) value = value * 256 + text.charCodeAt(next)
  return value
}
