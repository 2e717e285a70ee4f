import { describe, expect, it } from 'vitest'
import { imageSize, isCutOff, pdfPages } from '../../src/base/media-header.ts'
import { base64, gif, jpeg, pdf, png, webp } from '../support/pictures.ts'

const pictures: [string, Buffer, number][] = [
  // Behind the last number of bytes stands nothing that a picture needs.
  ['PNG', png(300, 200), 4],
  ['JPEG', jpeg(300, 200), 0],
  ['GIF', gif(300, 200), 1],
  ['WebP', webp(300, 200), 1],
]

describe('imageSize', () => {
  it.each(pictures)('reads the header of a %s', (_name, bytes) => {
    expect(imageSize(base64(bytes))).toEqual({ width: 300, height: 200 })
  })
})

describe('isCutOff', () => {
  it.each(pictures)('detects each truncation of a %s after its header', (_name, bytes, dispensable) => {
    const wrong: number[] = []
    for (let length = 0; length <= bytes.length; length += 1) {
      const part = base64(bytes.subarray(0, length))
      const isCut = imageSize(part) !== undefined && length < bytes.length - dispensable
      if (isCutOff(part) !== isCut) wrong.push(length)
    }
    expect(wrong).toEqual([])
  })

  it('accepts trailing bytes, and ignores the end of an embedded preview', () => {
    const whole = jpeg(30, 20, 300_000)
    expect(isCutOff(base64(Buffer.concat([whole, Buffer.alloc(500_000, 1)])))).toBe(false)
    expect(isCutOff(base64(whole.subarray(0, 200_000)))).toBe(true)
  })

  it('returns false for other and unreadable formats', () => {
    for (const bytes of ['', 'BM', '%PDF-1.7', 'GIF89a', '\x89PNG\r\n\x1a\n', 'RIFF....WEBP', '\xff\xd8\xff'])
      expect(isCutOff(btoa(bytes))).toBe(false)
    expect(isCutOff('no base64')).toBe(false)
  })
})

describe('pdfPages', () => {
  it('counts page objects, or reads the count of a linearized file', () => {
    expect(pdfPages(pdf(3).data ?? '')).toBe(3)
    expect(pdfPages(btoa('%PDF-1.7\n1 0 obj << /Linearized 1 /L 9 /N 1234 >>'))).toBe(1234)
    expect(pdfPages(btoa('%PDF-1.7'))).toBeUndefined()
  })
})
