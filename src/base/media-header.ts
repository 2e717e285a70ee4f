/** Size of an image in pixels. */
export interface ImageSize {
  width: number
  height: number
}

/** Base64 characters that contain the size of an image, even after an embedded preview. */
const imageHead = 256 * 1024
/** Base64 characters decoded at a time. Divisible by 4. */
export const pieceChars = 1024 * 1024
/** Characters of overlap between chunks, for matches across the boundary. */
const overlap = 64

/** Reads the size from the first bytes (base64) of a PNG, JPEG, GIF or WebP, or `undefined` if not found. */
export function imageSize(data: string): ImageSize | undefined {
  const head = decoded(data, 0, 64)
  if (head.startsWith('\x89PNG')) return sized(bigEndian(head, 16, 4), bigEndian(head, 20, 4))
  if (head.startsWith('GIF8')) return sized(littleEndian(head, 6, 2), littleEndian(head, 8, 2))
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return webpSize(head)
  if (!head.startsWith('\xff\xd8')) return undefined
  const { bytes, at, isFrame } = jpegSegment(decoded(data, 0, imageHead), isFrameMarker)
  return isFrame ? sized(bigEndian(bytes, at + 7, 2), bigEndian(bytes, at + 5, 2)) : undefined
}

function sized(width: number, height: number): ImageSize | undefined {
  return width > 0 && height > 0 ? { width, height } : undefined
}

function webpSize(head: string): ImageSize | undefined {
  const kind = head.slice(12, 16)
  if (kind === 'VP8X') return sized(littleEndian(head, 24, 3) + 1, littleEndian(head, 27, 3) + 1)
  if (kind === 'VP8 ') return sized(littleEndian(head, 26, 2) & 0x3fff, littleEndian(head, 28, 2) & 0x3fff)
  if (kind !== 'VP8L') return undefined
  const bits = littleEndian(head, 21, 4)
  return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
}

/** Returns whether a marker starts a frame, which contains the size. */
function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** Returns whether a marker starts the pixel data. */
function isScanMarker(marker: number): boolean {
  return marker === 0xda
}

/** Finds the first segment of a JPEG that `fits`. `at` is the final position. */
function jpegSegment(bytes: string, fits: (marker: number) => boolean): { bytes: string; at: number; isFrame: boolean } {
  let at = 2
  while (at + 9 < bytes.length && bytes.charCodeAt(at) === 0xff) {
    const marker = bytes.charCodeAt(at + 1)
    if (fits(marker)) return { bytes, at, isFrame: true }
    at += marker === 0xff ? 1 : 2 + bigEndian(bytes, at + 2, 2)
  }
  return { bytes, at, isFrame: false }
}

/** Base64 characters at the end of an image that usually contain its end marker. Divisible by 4. */
const imageTail = 64

/**
 * Returns whether a PNG, JPEG, GIF or WebP (base64) is truncated. Returns false if unknown: another format, a header without a size, or
 * invalid blocks. Takes linear time. Does not decode an image with the usual end marker.
 */
export function isCutOff(data: string): boolean {
  if (imageSize(data) === undefined) return false
  const head = decoded(data, 0, imageTail)
  const tail = decoded(data, Math.max(0, data.length - imageTail), imageTail)
  if (head.startsWith('\x89PNG')) return !tail.includes('IEND') && isCutPng(decoded(data, 0, data.length))
  if (head.startsWith('\xff\xd8')) return !tail.endsWith('\xff\xd9') && isCutJpeg(decoded(data, 0, data.length))
  if (head.startsWith('GIF8')) return isCutGif(decoded(data, 0, data.length))
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  // Some programs omit the padding byte.
  return littleEndian(head, 4, 4) + 8 > Math.floor((data.length * 3) / 4) - padding + 1
}

/** Returns whether a PNG is truncated. Each chunk starts with its length, and `IEND` is the last chunk. */
function isCutPng(bytes: string): boolean {
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bigEndian(bytes, at, 4)) if (bytes.startsWith('IEND', at + 4)) return false
  return true
}

/** Returns whether a JPEG is truncated. In pixel data, zero or a restart marker follows 0xff, so the end marker is unambiguous. */
function isCutJpeg(bytes: string): boolean {
  const { at, isFrame } = jpegSegment(bytes, isScanMarker)
  return isFrame ? !bytes.includes('\xff\xd9', at) : at + 9 >= bytes.length
}

/** Returns whether a GIF is truncated. Blocks consist of sub-blocks with a length. Some programs omit the trailer. */
function isCutGif(bytes: string): boolean {
  let at = 13 + gifTable(bytes.charCodeAt(10))
  for (let pictures = 0; at < bytes.length; at += 1) {
    const kind = bytes[at]
    if (kind === '!') at += 2
    else if (kind === ',') at += 11 + gifTable(bytes.charCodeAt(at + 9))
    else return false
    while (bytes.charCodeAt(at) > 0) at += 1 + bytes.charCodeAt(at)
    if (kind === ',' && at < bytes.length) pictures += 1
    if (at + 1 === bytes.length && pictures > 0) return false
  }
  return true
}

/** Returns the size of a color table in bytes. */
function gifTable(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1)
}

/**
 * Returns the number of pages of a PDF (base64), from the header of a linearized file or by counting uncompressed page objects. `undefined`
 * if unknown. Decompresses nothing; one pass in bounded memory.
 */
export function pdfPages(data: string): number | undefined {
  const linearizedPages = /\/Linearized [\d.]+[^>]{0,300}?\/N (\d{1,6})/.exec(decoded(data, 0, 4096))?.[1]
  let pages = Number(linearizedPages ?? 0)
  let rest = ''
  for (let at = 0; linearizedPages === undefined && at < data.length; at += pieceChars) {
    const piece = rest + decoded(data, at, pieceChars)
    // Matches within the overlap were already counted.
    for (const { index, 0: found } of piece.matchAll(/\/Type\s{0,4}\/Page(?=\W)/g)) if (index + found.length >= rest.length) pages += 1
    rest = piece.slice(-overlap)
  }
  return pages === 0 ? undefined : pages
}

/** Decodes base64 to one character per byte. Returns an empty string if it is invalid. */
export function decoded(data: string, start: number, length: number): string {
  try {
    return atob(data.slice(start, start + length))
  } catch {
    return ''
  }
}

/** Reads a big-endian number of `length` bytes. */
export function bigEndian(text: string, at: number, length: number): number {
  let value = 0
  for (let next = at; next < at + length; next += 1) value = value * 256 + text.charCodeAt(next)
  return value
}

/** Reads a little-endian number of `length` bytes. */
export function littleEndian(text: string, at: number, length: number): number {
  let value = 0
  for (let next = at + length - 1; next >= at; next -= 1) value = value * 256 + text.charCodeAt(next)
  return value
}
