import { describe, expect, it } from 'vitest'
import { Agent, fileContent, imageContent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseMessages, serializeMessages } from '../../src/session.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const pdf = bytes('%PDF-1.7 …')

describe('fileContent and imageContent', () => {
  it('creates blocks from blobs, files and bytes with the detected type', async () => {
    expect(await fileContent(pdf, { name: 'a.pdf', citations: true })).toEqual({
      type: 'file',
      mimeType: 'application/pdf',
      data: btoa(String.fromCharCode(...pdf)),
      name: 'a.pdf',
      citations: true,
    })
    expect(await fileContent(new File(['a,b'], 'a.csv'))).toMatchObject({ mimeType: 'text/csv', name: 'a.csv', data: btoa('a,b') })
    expect(await imageContent(new Blob(['GIF89a'], { type: '' }))).toMatchObject({ mimeType: 'image/gif' })
  })

  it.each([
    ['an empty file', () => fileContent(new Blob([]), { name: 'a.pdf' }), /"a\.pdf" is empty/, { field: 'file' }],
    ['a file that is too large', () => fileContent(pdf, { maxBytes: 3 }), /more than maxBytes \(3\)/, { field: 'maxBytes' }],
    ['an unknown type', () => fileContent(bytes('??')), /Pass mimeType/, { field: 'mimeType' }],
    ['a file as an image', () => imageContent(pdf), /use fileContent/, { field: 'mimeType', value: 'application/pdf' }],
    [
      'HTML named as a PDF',
      () => fileContent(bytes('<html></html>'), { name: 'a.pdf', mimeType: 'application/pdf' }),
      /its bytes are/,
      { field: 'mimeType', value: 'application/pdf' },
    ],
    [
      'an SVG as an image',
      () => imageContent(new Blob(['<svg/>'], { type: 'image/svg+xml' })),
      /is an SVG/,
      { field: 'mimeType', value: 'image/svg+xml' },
    ],
  ])('rejects %s with the reason and the limits as fields', async (_what, make, said, place) => {
    await expect(make()).rejects.toMatchObject({ code: 'invalidOption', message: expect.stringMatching(said), ...place })
  })
})

describe('an invalid media block', () => {
  const agent = () => new Agent({ model: scripted([{ text: 'ok' }]) })
  it.each([
    ['without a source', { type: 'file', mimeType: 'application/pdf' }, /0 of data, url and fileId/],
    ['with two sources', { type: 'image', mimeType: 'image/png', data: 'AAAA', url: 'https://a.example/b' }, /2 of data, url and fileId/],
    ['with a URL without https', { type: 'image', mimeType: 'image/png', url: 'file:///etc/passwd' }, /not an https URL/],
    ['without the provider of its file id', { type: 'file', mimeType: 'application/pdf', fileId: 'file_1' }, /requires api/],
    ['with a data: prefix', { type: 'image', mimeType: 'image/png', data: 'data:image/png;base64,AAAA' }, /begins with "data:"/],
    ['with invalid base64', { type: 'file', mimeType: 'text/plain', data: 'a b' }, /is not base64/],
    ['with HTML declared as a PDF', { type: 'file', mimeType: 'application/pdf', data: btoa('<html></html>') }, /its bytes are/],
    ['with SVG declared as a PNG', { type: 'image', mimeType: 'image/png', data: btoa('<svg onload="x"/>') }, /its bytes are/],
  ])('rejects a block %s', (_what, block, said) => {
    const message = { role: 'user', content: [block] }
    expect(() => agent().prompt(message as never)).toThrow(said)
    expect(() => new Agent({ model: scripted([]), messages: [message as never] })).toThrow(said)
  })
})

it('preserves a history with every kind of block', () => {
  const state = { api: 'somebody', model: 'm', payload: { a: 1 } }
  const messages = [
    { role: 'user', content: [{ type: 'file', mimeType: 'application/pdf', url: 'https://a.example/b.pdf', name: 'b.pdf' }] },
    {
      role: 'assistant',
      content: [
        { type: 'serviceTool', id: 's', name: 'web_search', status: 'done', output: [{ url: 'https://a.example' }], providerState: state },
        { type: 'text', text: 'So.', citations: [{ url: 'https://a.example', range: { start: 0, end: 2 } }] },
        { type: 'opaque', kind: 'novelty', providerState: state },
      ],
    },
  ]
  const agent = new Agent({ model: scripted([]), messages: messages as never })
  expect(parseMessages(serializeMessages(agent.messages))).toEqual(agent.messages)
})
