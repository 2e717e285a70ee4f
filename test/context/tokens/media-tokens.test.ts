import { describe, expect, it } from 'vitest'
import { heuristicTokenCounter, tokenCounterFor } from '../../../src/context.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import { withId } from '../../../src/contract/message/message.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const base64 = (...parts: (string | number[])[]) =>
  btoa(parts.map((part) => (typeof part === 'string' ? part : String.fromCharCode(...part))).join(''))
const big = (value: number, length: number) => Array.from({ length }, (_, at) => Math.floor(value / 256 ** (length - 1 - at)) % 256)
const little = (value: number, length: number) => big(value, length).reverse()

const png = (width: number, height: number) =>
  base64('\x89PNG\r\n\x1a\n', big(13, 4), 'IHDR', big(width, 4), big(height, 4), [8, 6, 0, 0, 0])
const gif = (width: number, height: number) => base64('GIF89a', little(width, 2), little(height, 2), [0])
const jpeg = (width: number, height: number, preview = 0) => {
  const segment = [0xff, 0xe1, ...big(preview + 2, 2), ...Array.from({ length: preview }, (_, at) => (at % 2 === 0 ? 0xff : 0xc0))]
  return base64([0xff, 0xd8], segment, [0xff, 0xc4, 0, 2, 0xff, 0xc2, 0, 17, 8], big(height, 2), big(width, 2), [3, 0, 0, 0])
}
const webp = {
  extended: (width: number, height: number) =>
    base64('RIFF', little(99, 4), 'WEBPVP8X', little(10, 4), [0, 0, 0, 0], little(width - 1, 3), little(height - 1, 3)),
  lossy: (width: number, height: number) =>
    base64('RIFF', little(99, 4), 'WEBPVP8 ', little(10, 4), [1, 2, 3, 0x9d, 1, 0x2a], little(width, 2), little(height, 2)),
  lossless: (width: number, height: number) =>
    base64('RIFF', little(99, 4), 'WEBPVP8L', little(10, 4), [0x2f], little(width - 1 + (height - 1) * 2 ** 14, 4)),
}

function tokens(model: string, block: Content): number {
  return tokenCounterFor(model).message(withId({ role: 'user', content: [block], timestamp: 1 })) - 4
}
const image = (data: string, mimeType = 'image/png'): Content => ({ type: 'image', mimeType, data })
const file = (mimeType: string, data: string): Content => ({ type: 'file', mimeType, data })

describe('image tokens by provider rules', () => {
  it.each<[string, number, number, number]>([
    ['claude-sonnet-4-5', 1000, 1000, 1296],
    ['claude-sonnet-4-5-20250929', 3000, 2000, 1568],
    ['anthropic.claude-opus-4-6-v1:0', 1092, 1092, 1521],
    ['claude-opus-4-20250514', 200, 200, 64],
    ['claude-opus-4-7', 3000, 2000, 4784],
    ['anthropic/claude-opus-4.7', 2000, 1500, 3888],
    ['claude-sonnet-5', 1000, 1000, 1296],
    ['gpt-6-sol', 4000, 3000, 11_750],
    ['gpt-5.6', 1024, 1024, 1024],
    ['gpt-5.4', 4000, 3000, 2500],
    ['gpt-5.4-mini', 4000, 3000, 2489],
    ['gpt-5.5-nano', 1024, 1024, 2520],
    ['gpt-5.2', 2000, 2000, 1536],
    ['o4-mini', 1024, 1024, 1762],
    ['gpt-5.1', 1024, 1024, 630],
    ['gpt-4o', 1024, 1024, 765],
    ['gpt-4.1', 2048, 4096, 1105],
    ['o3', 512, 512, 225],
    ['gemini-3-pro', 4000, 3000, 1120],
    ['gemini-2.5-flash', 300, 300, 258],
    ['gemini-2.5-flash', 960, 540, 516],
  ])('counts an image for %s: %d by %d is %d', (model, width, height, expected) => {
    expect(tokens(model, image(png(width, height)))).toBe(expected)
  })

  it('reads the size of each format, also after an embedded preview', () => {
    const [wide, expected] = [[1000, 300] as const, 36 * 11]
    const kinds: [string, string][] = [
      [png(...wide), 'image/png'],
      [gif(...wide), 'image/gif'],
      [jpeg(...wide), 'image/jpeg'],
      [jpeg(...wide, 60_000), 'image/jpeg'],
      [webp.extended(...wide), 'image/webp'],
      [webp.lossy(...wide), 'image/webp'],
      [webp.lossless(...wide), 'image/webp'],
    ]
    for (const [data, mimeType] of kinds) expect(tokens('claude-sonnet-5', image(data, mimeType)), mimeType).toBe(expected)
  })

  it('counts an unknown size as 1024 by 1024, and caps large images', () => {
    const square = tokens('claude-sonnet-5', image(png(1024, 1024)))
    const unknown: Content[] = [
      image(base64('BM no size')),
      image('####'),
      image(png(0, 7)),
      image(base64([0xff, 0xd8, 0xff, 0xe1, 0, 0, 0, 0])),
      { type: 'image', mimeType: 'image/png', url: 'https://a.example/a.png' },
      { type: 'image', mimeType: 'image/png', fileId: 'f', api: 'anthropicMessages' },
    ]
    for (const block of unknown) expect(tokens('claude-sonnet-5', block)).toBe(square)
    expect(tokens('gpt-6-sol', image(png(2 ** 32 - 1, 2 ** 32 - 1)))).toBe(256 * 256)
  })
})

describe('document tokens', () => {
  const pages = (count: number, between = '') => Array.from({ length: count }, () => `<< /Type /Page /Parent 1 0 R >>${between}`).join('\n')

  it.each<[string, string, number]>([
    ['page objects', `%PDF-1.4\n<< /Type /Pages /Count 7 >>\n${pages(7)}`, 7],
    ['without spaces', `%PDF-1.4\n<</Type/Pages>>\n${pages(3).replaceAll(' /Page', '/Page')}`, 3],
    ['page objects in a large file', `%PDF-1.4\n${pages(40, 'x'.repeat(100_003))}`, 40],
    ['the count of a linearized document', `%PDF-1.6\n1 0 obj << /Linearized 1 /L 1234 /H [ 1 2 ] /O 5 /E 99 /N 12 /T 8 >>\nstream`, 12],
    ['one page per 50 kB if compressed', `%PDF-1.7\n${'x'.repeat(210_000)}`, 5],
    ['more pages than any provider accepts', `%PDF-1.6\n1 0 obj << /Linearized 1 /L 1 /N 999999 >>`, 1000],
  ])('counts pages of a PDF: %s', (_name, text, expected) => {
    expect(tokens('gemini-2.5-pro', file('application/pdf', btoa(text)))).toBe(expected * 258)
    expect(tokens('gemini-3-pro', file('application/pdf', btoa(text)))).toBe(expected * 560)
    expect(tokens('claude-sonnet-5', file('application/pdf', btoa(text)))).toBe(expected * 3800)
  })

  it('counts a remote document as ten pages, and text as text', () => {
    expect(tokens('gemini-2.5-pro', { type: 'file', mimeType: 'application/pdf', fileId: 'f', api: 'googleGenerativeAi' })).toBe(2580)
    expect(tokens('gemini-2.5-pro', file('text/csv', btoa('a,b,c,d,')))).toBe(2)
  })
})

describe('audio and video tokens', () => {
  const wav = base64(
    'RIFF',
    little(99, 4),
    'WAVE',
    'fmt ',
    little(16, 4),
    [1, 0, 1, 0],
    little(16_000, 4),
    little(32_000, 4),
    'x'.repeat(320_000 - 32),
  )
  const mp3 = (tag: string) => base64(tag, [0xff, 0xfb, 0x90, 0], 'x'.repeat(160_000 - 4))
  const movie = (version: number, before = 0) =>
    base64(
      ...['x'.repeat(before), 'mvhd', [version, 0, 0, 0], 'x'.repeat(version === 1 ? 16 : 8)],
      ...[big(1000, 4), big(30_000, version === 1 ? 8 : 4)],
    )

  it.each<[string, Content, number]>([
    ['WAV by its rate', file('audio/wav', wav), 10 * 32],
    ['MP3 by its rate', file('audio/mpeg', mp3('')), 10 * 32],
    ['MP3 after a tag', file('audio/mpeg', mp3(`ID3\x04\x00\x00${String.fromCharCode(0, 0, 1, 0)}${'x'.repeat(128)}`)), 10 * 32],
    ['MP4 by its header', file('video/mp4', movie(0, 100)), 30 * 102],
    ['MP4 with a long header at the end', file('video/mp4', movie(1, 3_000_000)), 30 * 102],
    ['other audio at 16 kB per second', file('audio/ogg', btoa('x'.repeat(160_000))), 10 * 32],
    ['other video at 125 kB per second', file('video/webm', btoa('x'.repeat(1_250_000))), 10 * 102],
    ['one minute for a remote file', { type: 'file', mimeType: 'audio/mpeg', url: 'https://a.example/a.mp3' }, 60 * 32],
  ])('counts audio and video tokens by duration: %s', (_name, block, expected) => {
    const counted = tokens('gemini-3-pro', block)
    expect(Math.abs(counted - expected) / expected).toBeLessThan(0.01)
  })

  it('ignores an implausible duration', () => {
    expect(tokens('gemini-3-pro', file('video/mp4', base64('mvhd', [0, 0, 0, 0], 'x'.repeat(8), big(1, 4), big(2 ** 32 - 1, 4))))).toBe(
      36_000 * 102,
    )
    const noScale = file('video/mp4', base64('mvhd', [0, 0, 0, 0], 'x'.repeat(8), big(0, 4), big(5, 4)))
    expect(tokens('gemini-3-pro', noScale)).toBe(102)
  })
})

it('counts bytes for unknown models, and shares equal counters', () => {
  expect(tokenCounterFor('house-model-1')).toBe(heuristicTokenCounter)
  expect(tokenCounterFor('gpt-4o')).toBe(tokenCounterFor('gpt-4.1-mini'))
})

it("applies the counting rules of the agent's model", async () => {
  const { config, provider } = scripted([{ text: 'Seen.' }, { text: 'Yes.' }])
  const agent = new Agent({
    model: { config: { ...config, id: 'gemini-2.5-pro' }, provider },
    contextConfig: { maxContextTokens: 27_000, compaction: { keepFirstTurns: 0, keepRecentTurns: 1 } },
  })
  const pdf = file('application/pdf', btoa('%PDF-1.6\n1 0 obj << /Linearized 1 /L 1 /N 100 >>'))
  await agent.prompt({ role: 'user', content: [pdf] }).result
  const before: number[] = []
  for await (const event of agent.prompt('Sure?')) if (event.type === 'compactionEnded') before.push(event.estimatedTokensBefore)
  expect(before).toHaveLength(1)
  // 100 pages of 258, and a few words.
  expect(before[0]).toBeGreaterThan(25_800)
  expect(before[0]).toBeLessThan(25_900)
})
