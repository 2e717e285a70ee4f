import { describe, expect, it } from 'vitest'
import { Agent, ConfigError, type Content, fileContent, imageContent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("https://evil.example")</script></svg>'
const html = '<!doctype html><html><body>Log in</body></html>'
const image = (mimeType: string, data: string): Content => ({ type: 'image', mimeType, data })
const file = (mimeType: string, data: string): Content => ({ type: 'file', mimeType, data })
const utf16 = (text: string) => `\xff\xfe${[...text].map((char) => `${char}\0`).join('')}`
const png = `\x89PNG\r\n\x1a\n${'x'.repeat(20)}`
const wav = `RIFF....WAVEfmt ${'x'.repeat(20)}`
const hundredMegabytes = 'A'.repeat(134_000_000)

function refused(content: Content): ConfigError {
  const agent = new Agent({ model: scripted([]) })
  try {
    agent.prompt({ role: 'user', content: [content] })
  } catch (error) {
    if (ConfigError.isInstance(error)) return error
    throw error
  }
  throw new Error('It was taken.')
}

describe('hostile media, rejected before a run', () => {
  it.each<[string, Content, RegExp]>([
    ['100 MB of data', image('image/png', hundredMegabytes), /about 100500000 bytes.*Upload the file/],
    ['100 MB as a data URL in data', image('image/png', `data:image/png;base64,${hundredMegabytes}`), /bytes.*Upload the file/],
    [
      '100 MB as a data URL in url',
      { type: 'file', mimeType: 'application/pdf', url: `data:application/pdf;base64,${hundredMegabytes}` },
      /not an https URL/,
    ],
    ['a short data URL in data', image('image/png', `data:image/png;base64,${btoa(png)}`), /begins with "data:"/],
    ['an SVG with a script', image('image/svg+xml', btoa(script)), /SVG.*scripts/],
    ['an SVG as a file', file('Image/SVG+XML; charset=utf-8', btoa(script)), /SVG.*scripts/],
    ['an SVG declared as a PNG', image('image/png', btoa(script)), /declared as image\/png.*a document of text/],
    ['HTML as a PDF', file('application/pdf', btoa(html)), /declared as application\/pdf.*a document of text/],
    ['HTML as a PDF after a byte order mark', file('application/pdf', btoa(`\xef\xbb\xbf  ${html}`)), /a document of text/],
    ['HTML as an image after a byte order mark', image('image/gif', btoa(`\xef\xbb\xbf${html}`)), /a document of text/],
    ['HTML as an image in UTF-16', image('image/webp', btoa(utf16(html))), /a document of text/],
    ['an archive as a PDF', file('application/pdf', btoa(`PK\x03\x04${'x'.repeat(40)}`)), /its bytes are not a PDF/],
    ['an archive as an image', image('image/jpeg', btoa(`PK\x03\x04${'x'.repeat(40)}`)), /its bytes are not of that type/],
    ['a program as audio', file('audio/x-wav', btoa(`MZ${'x'.repeat(40)}`)), /its bytes are not of that type/],
    ['a PNG as a JPEG', image('image/jpeg', btoa(png)), /its bytes are image\/png/],
    ['a URL without https', { type: 'image', mimeType: 'image/png', url: 'http://127.0.0.1/a' }, /not an https URL/],
    ['a local file URL', { type: 'file', mimeType: 'application/pdf', url: 'file:///etc/passwd' }, /not an https URL/],
    ['a media type of one megabyte', image(`image/png${' '.repeat(1_000_000)}`, btoa(html)), /its bytes are a document of text/],
    ['invalid base64', image('image/png', '<script>alert(1)</script>'), /not base64/],
  ])('rejects %s', (_name, content, why) => {
    const { code, message } = refused(content)
    expect(code).toBe('invalidMessage')
    expect(message).toMatch(why)
    expect(message.length).toBeLessThan(400)
    expect(message).not.toContain('alert(1)')
  })

  it('accepts valid media, however the type is spelled', async () => {
    const agent = new Agent({ model: scripted(() => ({ text: 'Seen.' })) })
    const right = [
      image('image/PNG', btoa(png)),
      file('audio/x-wav', btoa(wav)),
      file('audio/wave; codecs=1', btoa(wav)),
      file('text/html', btoa(html)),
    ]
    for (const content of right) expect((await agent.prompt({ role: 'user', content: [content] }).result).status).toBe('completed')
  })

  it('measures an office document by its bytes without opening the archive', async () => {
    const bomb = new Blob([`PK\x03\x04${'\0'.repeat(1000)}`])
    const docx = await fileContent(bomb, { name: 'a.docx' })
    expect(docx).toMatchObject({ mimeType: expect.stringContaining('wordprocessingml'), name: 'a.docx' })
    await expect(fileContent(bomb)).rejects.toMatchObject({ code: 'invalidOption' })
    await expect(imageContent(bomb, { name: 'a.docx' })).rejects.toMatchObject({ code: 'invalidOption' })
    await expect(fileContent(new Blob([new Uint8Array(21 * 1024 * 1024)]), { name: 'a.pdf' })).rejects.toMatchObject({
      code: 'invalidOption',
    })
  })
})
