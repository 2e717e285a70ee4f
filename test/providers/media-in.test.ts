import { describe, expect, it } from 'vitest'
import type { FileContent } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai, openaiCompatible, openrouter } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { plainRequest, sentBody } from './model-call.ts'

const data = btoa('%PDF-1.7 …'.replace('…', 'x'))
const pdf: FileContent = { type: 'file', mimeType: 'application/pdf', data, name: 'a.pdf', citations: true }
const asked = (content: FileContent) => [
  { role: 'user' as const, content: [content, { type: 'text' as const, text: 'What?' }], timestamp: 1 },
]
const bodyOf = async ({ config, provider }: Model, file: FileContent) =>
  JSON.stringify(await sentBody(provider, plainRequest(config, { messages: asked(file), cache: { type: 'disabled' } })))
const keys = { apiKey: 'k' }

describe('a PDF in a user message', () => {
  it.each<[string, Model, object]>([
    [
      'Anthropic',
      anthropic('claude-sonnet-5', keys),
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data },
        title: 'a.pdf',
        citations: { enabled: true },
      },
    ],
    ['Chat', openai('gpt-5.1', keys), { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } }],
    [
      'Responses',
      openaiResponses('gpt-5.1', keys),
      { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` },
    ],
    [
      'Bedrock',
      bedrock('anthropic.claude-sonnet-4-5', { region: 'eu-west-1', apiKey: 'k' }),
      { document: { format: 'pdf', name: 'document-1', source: { bytes: data }, context: 'a.pdf', citations: { enabled: true } } },
    ],
    ['Gemini', google('gemini-3-pro', keys), { inlineData: { mimeType: 'application/pdf', data } }],
  ])('sends PDF bytes to %s', async (_name, model, block) => {
    expect(await bodyOf(model, pdf)).toContain(JSON.stringify(block))
  })

  it('sends a PDF by URL or file id if the provider accepts it', async () => {
    const byUrl: FileContent = { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/a.pdf' }
    const byId: FileContent = { type: 'file', mimeType: 'application/pdf', fileId: 'f1', api: 'anthropicMessages' }
    expect(await bodyOf(anthropic('claude-sonnet-5', keys), byUrl)).toContain('"source":{"type":"url","url":"https://a.example/a.pdf"}')
    expect(await bodyOf(anthropic('claude-sonnet-5', keys), byId)).toContain('"source":{"type":"file","file_id":"f1"}')
    expect(await bodyOf(openaiResponses('gpt-5.1', keys), byUrl)).toContain('"file_url":"https://a.example/a.pdf"')
    expect(await bodyOf(google('gemini-3-pro', keys), byUrl)).toContain('"fileUri":"https://a.example/a.pdf"')
    expect(await bodyOf(openai('gpt-5.1', keys), byId)).toContain('was uploaded to another provider')
  })

  it('sends a PDF URL to Vertex AI, but only YouTube URLs to the Gemini API', async () => {
    const video: FileContent = { type: 'file', mimeType: 'video/mp4', url: 'https://www.youtube.com/watch?v=abc' }
    const other: FileContent = { type: 'file', mimeType: 'video/mp4', url: 'https://www.youtube.com.evil.example/watch?v=abc' }
    const byUrl: FileContent = { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/a.pdf' }
    const vertexModel = vertex('gemini-3-flash', { ...keys })
    expect(await bodyOf(google('gemini-3-pro', keys), video)).toContain(`"fileData":{"mimeType":"video/mp4","fileUri":"${video.url}"}`)
    expect(await bodyOf(google('gemini-3-pro', keys), other)).toContain('does not fetch')
    expect(await bodyOf(vertexModel, byUrl)).toContain(`"fileData":{"mimeType":"application/pdf","fileUri":"${byUrl.url}"}`)
    expect(await bodyOf(vertex('gemini-3-flash', { ...keys, capabilities: { mediaByUrl: [] } }), byUrl)).toContain('does not fetch')
  })

  it('sends a PDF to xAI by URL or file id, never as bytes', async () => {
    const grok = openaiResponses('grok-4.3', { ...keys, provider: 'xai', baseUrl: 'https://api.x.ai/v1' })
    const byUrl: FileContent = { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/a.pdf' }
    const byId: FileContent = { type: 'file', mimeType: 'application/pdf', fileId: 'file_1', api: 'openAiResponses' }
    expect(await bodyOf(grok, byUrl)).toContain('{"type":"input_file","file_url":"https://a.example/a.pdf"}')
    expect(await bodyOf(grok, byId)).toContain('{"type":"input_file","file_id":"file_1"}')
    const reason = 'this provider accepts a.pdf (application/pdf) by URL or upload, not as bytes'
    const inline: FileContent = { type: 'file', mimeType: 'application/pdf', data, name: 'a.pdf' }
    expect(await bodyOf(grok, inline)).toContain(`(file left out: ${reason})`)
    const { provider, config } = grok
    expect((await provider.encode(plainRequest(config, { messages: asked(inline) }))).warnings).toEqual([
      `A file was dropped from a request: ${reason}.`,
    ])
    await expect(provider.encode(plainRequest(config, { messages: asked(inline), requireMedia: true }))).rejects.toThrow(reason)
  })

  it('sends a PDF to Mistral by URL', async () => {
    const mistral = openaiCompatible('mistral-medium-latest', { ...keys, backend: 'mistral' })
    const byUrl: FileContent = { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/a.pdf' }
    expect(await bodyOf(mistral, pdf)).toContain(
      `{"type":"document_url","document_url":"data:application/pdf;base64,${data}","document_name":"a.pdf"}`,
    )
    expect(await bodyOf(mistral, byUrl)).toContain('{"type":"document_url","document_url":"https://a.example/a.pdf"}')
  })

  it('warns about document fields that the provider does not support', async () => {
    const told = { ...pdf, context: 'Of 2026.' }
    const models = [openai('gpt-5.1', keys), openaiResponses('gpt-5.1', keys), google('gemini-3-pro', keys)]
    for (const { provider, config } of models) {
      const { warnings } = await provider.encode(plainRequest(config, { messages: [...asked(told), ...asked(told)] }))
      expect(warnings).toEqual([expect.stringContaining('The context of a.pdf'), expect.stringContaining('citations of a.pdf')])
    }
    const wished: FileContent = { ...pdf, citations: 'ifPossible' }
    for (const { provider, config } of models)
      expect((await provider.encode(plainRequest(config, { messages: asked(wished) }))).warnings).toEqual([])
    const { provider, config } = anthropic('claude-sonnet-5', keys)
    for (const each of [told, wished]) {
      const { warnings, body } = await provider.encode(plainRequest(config, { messages: asked(each) }))
      expect([warnings, body.includes('"citations":{"enabled":true}')]).toEqual([[], true])
    }
  })

  it('replaces a PDF with a text note and a warning if the model takes none', async () => {
    const model = bedrock('mistral.mistral-large-3-v1:0', { region: 'eu-west-1', apiKey: 'k' })
    expect(await bodyOf(model, pdf)).toContain('(file left out: this model does not accept a.pdf (application/pdf))')
    const { warnings } = await model.provider.encode(
      plainRequest(model.config, { messages: asked(pdf), cache: { type: 'disabled' }, credential: 'k' }),
    )
    expect(warnings).toContainEqual('A file was dropped from a request: this model does not accept a.pdf (application/pdf).')
  })
})

it('inlines a text file if the model accepts no text files', async () => {
  const csv: FileContent = { type: 'file', mimeType: 'text/csv', data: btoa('a,b'), name: 'a.csv' }
  expect(await bodyOf(openai('gpt-5.1', keys), csv)).toContain('a.csv:\\\\na,b'.replace('\\\\', '\\'))
})

describe('an office file', () => {
  const types = {
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    doc: 'application/msword',
    xls: 'application/vnd.ms-excel',
    ppt: 'application/vnd.ms-powerpoint',
    odt: 'application/vnd.oasis.opendocument.text',
    rtf: 'application/rtf',
  }
  const zip = btoa('PK\x03\x04')

  it.each(Object.entries(types))('sends an office file unchanged to Responses: %s', async (end, mimeType) => {
    const file: FileContent = { type: 'file', mimeType, data: zip, name: `a.${end}` }
    const block = { type: 'input_file', filename: `a.${end}`, file_data: `data:${mimeType};base64,${zip}` }
    for (const id of ['gpt-5.1', 'gpt-5-pro', 'gpt-5.2-codex', 'gpt-unheard-of'])
      expect(await bodyOf(openaiResponses(id, keys), file)).toContain(JSON.stringify(block))
    expect(await bodyOf(openaiResponses('gpt-5.1', keys), { type: 'file', mimeType, url: `https://a.example/a.${end}` })).toContain(
      `"file_url":"https://a.example/a.${end}"`,
    )
    expect(await bodyOf(openaiResponses('gpt-5.1', keys), { type: 'file', mimeType, fileId: 'file_1', api: 'openAiResponses' })).toContain(
      '"file_id":"file_1"',
    )
  })

  it('replaces an office file with a text note and a warning elsewhere', async () => {
    const file: FileContent = { type: 'file', mimeType: types.docx, data: zip, name: 'a.docx' }
    const others = [
      openai('gpt-5.1', keys),
      openaiResponses('o3-mini', keys),
      azure('gpt-5.1', { ...keys, baseUrl: 'https://a.example/openai/v1' }),
    ]
    for (const model of [...others, anthropic('claude-sonnet-5', keys), google('gemini-3-pro', keys)])
      expect(await bodyOf(model, file)).toContain('(file left out: ')
  })
})

describe('a text with citations enabled', () => {
  const words = 'Tea is a leaf. 😀'
  const file = (long: string): FileContent => ({
    ...pdf,
    mimeType: 'text/plain',
    name: 'a.txt',
    data: Buffer.from(long).toString('base64'),
  })

  it('sends a cited text as a document to Anthropic, and as text elsewhere', async () => {
    for (const said of [words, words.repeat(8000)]) {
      const document = {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: said },
        title: 'a.txt',
        citations: { enabled: true },
      }
      expect(await bodyOf(anthropic('claude-sonnet-5', keys), file(said))).toContain(JSON.stringify(document))
    }
    expect(await bodyOf(anthropic('claude-sonnet-5', keys), { ...file(words), citations: false })).toContain(`"text":"a.txt:\\n${words}"`)
    expect(await bodyOf(google('gemini-3-pro', keys), file(words))).toContain(`"text":"a.txt:\\n${words}"`)
  })
})

describe('audio and video in Chat Completions', () => {
  const sound: FileContent = { type: 'file', mimeType: 'audio/mpeg', data: 'AAAA', name: 'a.mp3' }
  const video: FileContent = { type: 'file', mimeType: 'video/mp4', data: 'AAAA' }

  it('sends audio and video only to models that support them', async () => {
    const hears = openai('gpt-audio', keys)
    expect(await bodyOf(hears, sound)).toContain('{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}}')
    expect(await bodyOf(hears, pdf)).toContain('does not accept')
    const takes = openrouter('google/gemini-3-pro', { ...keys, capabilities: { media: ['audio/*', 'video/*'] } })
    expect(await bodyOf(takes, { ...sound, mimeType: 'audio/wav' })).toContain('"format":"wav"')
    expect(await bodyOf(takes, video)).toContain('{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}')
    expect(await bodyOf(openai('gpt-5.1', keys), sound)).toContain('does not accept')
  })
})
