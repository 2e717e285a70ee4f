import { crc32, deflateSync } from 'node:zlib'
import { toBase64 } from '../../src/base/base64.ts'
import type { FileContent, ImageContent } from '../../src/contract/message/content.ts'

/** Base64 of bytes. */
export function base64(bytes: Uint8Array): string {
  return toBase64(bytes)
}

/** A picture block of `bytes`. */
export function image(bytes: Uint8Array, mimeType = 'image/png'): ImageContent {
  return { type: 'image', mimeType, data: base64(bytes) }
}

/** A grey PNG that every reader takes. `shade` makes its bytes another picture's; `extra` are bytes of text in it. */
export function png(width: number, height: number, { shade = 0, extra = 0 } = {}): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const pixels = deflateSync(Buffer.alloc((width + 1) * height, shade))
  const text = extra === 0 ? [] : [chunk('tEXt', Buffer.concat([Buffer.from('Comment\0'), Buffer.alloc(extra, 0x61)]))]
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), ...text, chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

/** A JPEG as far as its segments go: a preview that is a JPEG itself, a frame, a scan of `scan` bytes, the end. */
export function jpeg(width: number, height: number, scan = 400): Buffer {
  const preview = Buffer.from([0xff, 0xe1, 0, 10, 0xff, 0xd8, 1, 2, 3, 4, 0xff, 0xd9])
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0])
  const start = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0])
  return Buffer.concat([Buffer.from([0xff, 0xd8]), preview, frame, start, Buffer.alloc(scan, 0x5a), Buffer.from([0xff, 0xd9])])
}

/** A GIF of one picture, with a table of colours, a comment and two sub-blocks of pixels. */
export function gif(width: number, height: number): Buffer {
  const size = Buffer.from([width & 255, width >> 8, height & 255, height >> 8])
  const head = Buffer.concat([Buffer.from('GIF89a'), size, Buffer.from([0x80, 0, 0, 1, 2, 3, 4, 5, 6])])
  const comment = Buffer.from([0x21, 0xfe, 2, 0x3b, 0x3b, 0])
  const picture = Buffer.concat([Buffer.from([0x2c, 0, 0, 0, 0]), size, Buffer.from([0, 2])])
  const pixels = Buffer.concat([Buffer.from([200]), Buffer.alloc(200, 0x3b), Buffer.from([3, 1, 2, 3, 0])])
  return Buffer.concat([head, comment, picture, pixels, Buffer.from([0x3b])])
}

/** A WebP as far as its container goes. */
export function webp(width: number, height: number): Buffer {
  const canvas = Buffer.alloc(18)
  canvas.write('VP8X')
  canvas.writeUInt32LE(10, 4)
  canvas.writeUIntLE(width - 1, 12, 3)
  canvas.writeUIntLE(height - 1, 15, 3)
  const body = Buffer.concat([Buffer.from('WEBP'), canvas, Buffer.alloc(300, 1)])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(body.length)
  return Buffer.concat([Buffer.from('RIFF'), size, body])
}

/** A PDF with as many page objects. */
export function pdf(pages: number, name = 'report.pdf'): FileContent {
  const objects = Array.from({ length: pages }, (_, at) => `${at + 3} 0 obj << /Type /Page /Parent 2 0 R >> endobj\n`)
  const text = `%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n2 0 obj << /Type /Pages /Count ${pages} >> endobj\n${objects.join('')}%%EOF\n`
  return { type: 'file', mimeType: 'application/pdf', data: base64(Buffer.from(text)), name }
}
